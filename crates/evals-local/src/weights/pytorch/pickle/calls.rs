//! The calls of a pickle: the few functions that a table of tensors needs, and what their arguments must be.

use std::rc::Rc;

use super::damaged;
use super::global::Global;
use super::machine::{Machine, Place, Value};
use super::tensor::{Storage, Tensor};
use crate::error::WeightsError;

/// Most dimensions of a tensor; weights of transformers have at most four.
const MAX_DIMENSIONS: usize = 8;

impl Machine<'_> {
    pub(super) fn global(&mut self, module: &str, name: &str) -> Result<(), WeightsError> {
        let global = Global::named(module, name);
        let global = global.ok_or_else(|| WeightsError::Global(format!("{module}.{name}")))?;
        self.push(Value::Global(global));
        Ok(())
    }

    /// Finds the storage that a tuple names: the word `storage`, its type, its key, a device, the number of its values.
    pub(super) fn storage(&mut self) -> Result<(), WeightsError> {
        let identifier = self.pop()?;
        let storage = match self.parts(identifier)? {
            [_, kind, key, ..] => match self.values[*kind] {
                Value::Global(Global::Storage { number, width }) => Some(Storage {
                    number,
                    width,
                    key: self.text(*key)?,
                }),
                _ => None,
            },
            _ => None,
        };
        let storage =
            storage.ok_or_else(|| damaged("it refers to a value that is not a storage"))?;
        self.push(Value::Storage(storage));
        Ok(())
    }

    /// Has the effect of calling one of the known functions.
    pub(super) fn reduce(&mut self) -> Result<(), WeightsError> {
        let arguments = self.pop()?;
        let called = self.pop()?;
        let made = match (&self.values[called], self.parts(arguments)?) {
            (Value::Global(Global::OrderedDict), []) => Value::Dict(Vec::new()),
            (Value::Global(Global::RebuildTensor), [storage, offset, shape, strides, ..]) => {
                Value::Tensor(self.tensor([*storage, *offset, *shape, *strides])?)
            }
            (Value::Global(Global::RebuildParameter), [tensor, ..]) => {
                let tensor = *tensor;
                self.stack.push(tensor);
                return Ok(());
            }
            _ => {
                return Err(damaged(
                    "it calls a function that does not belong to a table of tensors",
                ));
            }
        };
        self.push(made);
        Ok(())
    }

    fn tensor(
        &self,
        [storage, offset, shape, strides]: [Place; 4],
    ) -> Result<Tensor, WeightsError> {
        let numbers = |place: Place| {
            let parts = self.parts(place)?;
            if parts.len() > MAX_DIMENSIONS {
                return Err(damaged(
                    "it has a tensor with more dimensions than weights have",
                ));
            }
            parts.iter().map(|part| self.number(*part)).collect()
        };
        let Value::Storage(storage) = &self.values[storage] else {
            return Err(damaged("it has a tensor without a storage"));
        };
        Ok(Tensor {
            storage: storage.clone(),
            offset: self.number(offset)?,
            shape: numbers(shape)?,
            strides: numbers(strides)?,
        })
    }

    fn number(&self, place: Place) -> Result<i64, WeightsError> {
        match self.values[place] {
            Value::Int(number) => Ok(number),
            _ => Err(damaged("it has another value in place of a number")),
        }
    }

    pub(super) fn text(&self, place: Place) -> Result<Rc<str>, WeightsError> {
        match &self.values[place] {
            Value::Text(text) => Ok(Rc::clone(text)),
            _ => Err(damaged("it has another value in place of a name")),
        }
    }

    /// The parts of a tuple.
    fn parts(&self, place: Place) -> Result<&[Place], WeightsError> {
        match &self.values[place] {
            Value::Tuple(parts) => Ok(parts),
            _ => Err(damaged("it has another value in place of a tuple")),
        }
    }
}
