//! The operations of a pickle, on a stack of values.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::bytes::Bytes;
use super::damaged;
use super::global::Global;
use super::tensor::{Storage, Tensor};
use crate::error::WeightsError;

/// Most values of a pickle. The tables of known models need tens of thousands.
const MAX_VALUES: usize = 1 << 20;

/// Longest name of a tensor that is accepted.
const MAX_NAME: usize = 1024;

/// A value's place in the list of all values.
pub(super) type Place = usize;

/// A value that the pickle creates.
#[derive(Debug)]
pub(super) enum Value {
    /// `None`, booleans and floats, on which no tensor depends.
    Other,
    Int(i64),
    Text(Rc<str>),
    Tuple(Vec<Place>),
    List(Vec<Place>),
    Dict(Vec<(Place, Place)>),
    Global(Global),
    Storage(Storage),
    Tensor(Tensor),
}

/// The state of the interpreter.
#[derive(Debug)]
pub(super) struct Machine<'p> {
    bytes: Bytes<'p>,
    pub(super) values: Vec<Value>,
    pub(super) stack: Vec<Place>,
    /// Heights of the stack at which groups of values begin.
    marks: Vec<usize>,
    memo: BTreeMap<u32, Place>,
}

impl<'p> Machine<'p> {
    pub(super) fn new(pickle: &'p [u8]) -> Self {
        Self {
            bytes: Bytes(pickle),
            values: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: BTreeMap::new(),
        }
    }
}

impl Machine<'_> {
    /// Runs the pickle and returns the value that is left.
    pub(super) fn run(&mut self) -> Result<Place, WeightsError> {
        loop {
            let operation = self.bytes.byte()?;
            if operation == b'.' {
                return self.pop();
            }
            self.step(operation)?;
            let stacks = self.stack.len().max(self.marks.len());
            if self.values.len().max(stacks) > MAX_VALUES {
                return Err(damaged(
                    "it creates more values than a table of tensors has",
                ));
            }
        }
    }

    fn step(&mut self, operation: u8) -> Result<(), WeightsError> {
        match operation {
            // The protocol, and frames, which only help to read ahead.
            0x80 => drop(self.bytes.take(1)?),
            0x95 => drop(self.bytes.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'N' | 0x88 | 0x89 => self.push(Value::Other),
            b'G' => {
                self.bytes.take(8)?;
                self.push(Value::Other);
            }
            b'K' | b'M' | b'J' | 0x8a => self.integer(operation)?,
            b'X' | 0x8c | b'U' | b'T' => self.string(operation)?,
            b'q' | b'r' | 0x94 => self.remember(operation)?,
            b'h' | b'j' => self.recall(operation)?,
            b')' | b't' | 0x85..=0x87 => self.tuple(operation)?,
            b']' => self.push(Value::List(Vec::new())),
            b'}' => self.push(Value::Dict(Vec::new())),
            b'a' | b'e' => self.append(operation)?,
            b's' | b'u' => self.insert(operation)?,
            b'c' => {
                let (module, name) = (self.bytes.line()?, self.bytes.line()?);
                self.global(&module, &name)?;
            }
            0x93 => {
                let names = self.last(2)?;
                let (module, name) = (self.text(names[0])?, self.text(names[1])?);
                self.global(&module, &name)?;
            }
            b'Q' => self.storage()?,
            b'R' => self.reduce()?,
            // Discarded values, and attributes of the table such as `_metadata`.
            b'0' | b'b' => drop(self.pop()?),
            other => return Err(damaged(format!("it uses the operation {other:#04x}"))),
        }
        Ok(())
    }

    fn integer(&mut self, operation: u8) -> Result<(), WeightsError> {
        let value = match operation {
            b'K' => i64::from(self.bytes.byte()?),
            b'M' => i64::from(u16::from_le_bytes(self.bytes.array()?)),
            b'J' => i64::from(i32::from_le_bytes(self.bytes.array()?)),
            _ => {
                let length = self.bytes.byte()?;
                self.bytes.signed(length)?
            }
        };
        self.push(Value::Int(value));
        Ok(())
    }

    fn string(&mut self, operation: u8) -> Result<(), WeightsError> {
        let length = match operation {
            0x8c | b'U' => usize::from(self.bytes.byte()?),
            _ => self.bytes.length()?,
        };
        // A table may repeat one name many times.
        if length > MAX_NAME {
            return Err(damaged("it has a name longer than those of tensors"));
        }
        let text = std::str::from_utf8(self.bytes.take(length)?);
        let text = text.map_err(|_| damaged("it has a name that is not UTF-8"))?;
        let value = Value::Text(text.into());
        self.push(value);
        Ok(())
    }

    fn remember(&mut self, operation: u8) -> Result<(), WeightsError> {
        let key = match operation {
            b'q' => u32::from(self.bytes.byte()?),
            b'r' => u32::from_le_bytes(self.bytes.array()?),
            _ => u32::try_from(self.memo.len()).map_err(|_| underflow())?,
        };
        let top = *self.stack.last().ok_or_else(underflow)?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn recall(&mut self, operation: u8) -> Result<(), WeightsError> {
        let key = match operation {
            b'h' => u32::from(self.bytes.byte()?),
            _ => u32::from_le_bytes(self.bytes.array()?),
        };
        let place = *self.memo.get(&key).ok_or_else(underflow)?;
        self.stack.push(place);
        Ok(())
    }

    fn tuple(&mut self, operation: u8) -> Result<(), WeightsError> {
        let parts = match operation {
            b')' => Vec::new(),
            b't' => self.since_mark()?,
            counted => self.last(usize::from(counted - 0x84))?,
        };
        self.push(Value::Tuple(parts));
        Ok(())
    }

    fn append(&mut self, operation: u8) -> Result<(), WeightsError> {
        let added = match operation {
            b'a' => self.last(1)?,
            _ => self.since_mark()?,
        };
        match self.top()? {
            Value::List(list) => list.extend(added),
            _ => return Err(damaged("it appends to a value that is not a list")),
        }
        Ok(())
    }

    fn insert(&mut self, operation: u8) -> Result<(), WeightsError> {
        let added = match operation {
            b's' => self.last(2)?,
            _ => self.since_mark()?,
        };
        let (pairs, []) = added.as_chunks::<2>() else {
            return Err(damaged("it inserts a key without a value"));
        };
        match self.top()? {
            Value::Dict(entries) => entries.extend(pairs.iter().map(|[key, value]| (*key, *value))),
            _ => return Err(damaged("it inserts into a value that is not a table")),
        }
        Ok(())
    }

    pub(super) fn push(&mut self, value: Value) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    pub(super) fn pop(&mut self) -> Result<Place, WeightsError> {
        self.stack.pop().ok_or_else(underflow)
    }

    fn top(&mut self) -> Result<&mut Value, WeightsError> {
        let place = *self.stack.last().ok_or_else(underflow)?;
        Ok(&mut self.values[place])
    }

    /// Takes the last `count` values off the stack.
    fn last(&mut self, count: usize) -> Result<Vec<Place>, WeightsError> {
        let kept = self.stack.len().checked_sub(count).ok_or_else(underflow)?;
        Ok(self.stack.split_off(kept))
    }

    /// Takes off the stack what came after the last mark.
    fn since_mark(&mut self) -> Result<Vec<Place>, WeightsError> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        Ok(self.stack.split_off(mark.ok_or_else(underflow)?))
    }
}

fn underflow() -> WeightsError {
    damaged("it uses values that it did not create")
}
