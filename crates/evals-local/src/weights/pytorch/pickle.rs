//! An interpreter for the few operations in a pickled table of tensors.
//!
//! Values are in one list and refer to each other by their place in it, as objects do in Python. Nothing is copied, and dropping
//! nested values cannot overflow the stack.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::error::WeightsError;

/// Most values of a pickle. The tables of known models need tens of thousands.
const MAX_VALUES: usize = 1 << 20;

/// Longest name of a tensor that is accepted.
const MAX_NAME: usize = 1024;

/// Most dimensions of a tensor; weights of transformers have at most four.
const MAX_DIMENSIONS: usize = 8;

/// A tensor as the pickle describes it, not checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tensor {
    pub(super) storage: Storage,
    /// Number of values in the storage before the first value of the tensor.
    pub(super) offset: i64,
    pub(super) shape: Vec<i64>,
    pub(super) strides: Vec<i64>,
}

/// The storage of the values of one or more tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    /// The type of its values, as safetensors call it.
    pub(super) number: &'static str,
    /// Bytes of one value.
    pub(super) width: u64,
    /// The name of its record.
    pub(super) key: Rc<str>,
}

/// The functions and types that a table of tensors refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    Storage { number: &'static str, width: u64 },
}

impl Global {
    fn named(module: &str, name: &str) -> Option<Self> {
        let storage = |number, width| Some(Self::Storage { number, width });
        match (module, name) {
            ("collections", "OrderedDict") => Some(Self::OrderedDict),
            ("torch._utils", "_rebuild_tensor_v2") => Some(Self::RebuildTensor),
            ("torch._utils", "_rebuild_parameter") => Some(Self::RebuildParameter),
            ("torch", "FloatStorage") => storage("F32", 4),
            ("torch", "HalfStorage") => storage("F16", 2),
            ("torch", "BFloat16Storage") => storage("BF16", 2),
            ("torch", "DoubleStorage") => storage("F64", 8),
            ("torch", "LongStorage") => storage("I64", 8),
            ("torch", "IntStorage") => storage("I32", 4),
            ("torch", "ShortStorage") => storage("I16", 2),
            ("torch", "CharStorage") => storage("I8", 1),
            ("torch", "ByteStorage") => storage("U8", 1),
            ("torch", "BoolStorage") => storage("BOOL", 1),
            _ => None,
        }
    }
}

/// A value's place in the list of all values.
type Place = usize;

#[derive(Debug)]
enum Value {
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

#[derive(Debug)]
struct Machine<'p> {
    rest: &'p [u8],
    values: Vec<Value>,
    stack: Vec<Place>,
    /// Heights of the stack at which groups of values begin.
    marks: Vec<usize>,
    memo: BTreeMap<u32, Place>,
}

/// The tensors of the pickled table by name. Other entries are skipped.
pub(super) fn entries(pickle: &[u8]) -> Result<BTreeMap<String, Tensor>, WeightsError> {
    let mut machine = Machine {
        rest: pickle,
        values: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: BTreeMap::new(),
    };
    let table = machine.run()?;
    let Value::Dict(entries) = &machine.values[table] else {
        return Err(damaged("it is not a table of tensors"));
    };
    // One by one: a list of all entries would hold a name as often as the pickle repeats it.
    let mut named = BTreeMap::new();
    for (key, value) in entries {
        if let (Value::Text(name), Value::Tensor(tensor)) =
            (&machine.values[*key], &machine.values[*value])
        {
            named.insert(name.to_string(), tensor.clone());
        }
    }
    Ok(named)
}

impl Machine<'_> {
    /// Runs the pickle and returns the value that is left.
    fn run(&mut self) -> Result<Place, WeightsError> {
        loop {
            let operation = self.byte()?;
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
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'N' | 0x88 | 0x89 => self.push(Value::Other),
            b'G' => {
                self.take(8)?;
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
                let (module, name) = (self.line()?, self.line()?);
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
            b'K' => i64::from(self.byte()?),
            b'M' => i64::from(u16::from_le_bytes(self.array()?)),
            b'J' => i64::from(i32::from_le_bytes(self.array()?)),
            _ => {
                let length = self.byte()?;
                let bytes = self.take(usize::from(length))?;
                signed(bytes).ok_or_else(|| damaged("it has a number of more than 64 bits"))?
            }
        };
        self.push(Value::Int(value));
        Ok(())
    }

    fn string(&mut self, operation: u8) -> Result<(), WeightsError> {
        let length = match operation {
            0x8c | b'U' => usize::from(self.byte()?),
            _ => self.long_index()?,
        };
        // A table may repeat one name many times.
        if length > MAX_NAME {
            return Err(damaged("it has a name longer than those of tensors"));
        }
        let text = std::str::from_utf8(self.take(length)?);
        let text = text.map_err(|_| damaged("it has a name that is not UTF-8"))?;
        let value = Value::Text(text.into());
        self.push(value);
        Ok(())
    }

    fn remember(&mut self, operation: u8) -> Result<(), WeightsError> {
        let key = match operation {
            b'q' => u32::from(self.byte()?),
            b'r' => u32::from_le_bytes(self.array()?),
            _ => u32::try_from(self.memo.len()).map_err(|_| underflow())?,
        };
        let top = *self.stack.last().ok_or_else(underflow)?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn recall(&mut self, operation: u8) -> Result<(), WeightsError> {
        let key = match operation {
            b'h' => u32::from(self.byte()?),
            _ => u32::from_le_bytes(self.array()?),
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

    fn global(&mut self, module: &str, name: &str) -> Result<(), WeightsError> {
        let global = Global::named(module, name);
        let global = global.ok_or_else(|| WeightsError::Global(format!("{module}.{name}")))?;
        self.push(Value::Global(global));
        Ok(())
    }

    /// Finds the storage that a tuple names: the word `storage`, its type, its key, a device, the number of its values.
    fn storage(&mut self) -> Result<(), WeightsError> {
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
    fn reduce(&mut self) -> Result<(), WeightsError> {
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

    fn text(&self, place: Place) -> Result<Rc<str>, WeightsError> {
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

    fn push(&mut self, value: Value) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    fn pop(&mut self) -> Result<Place, WeightsError> {
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

    fn byte(&mut self) -> Result<u8, WeightsError> {
        self.array().map(|[byte]| byte)
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], WeightsError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn long_index(&mut self) -> Result<usize, WeightsError> {
        let length = u32::from_le_bytes(self.array()?);
        usize::try_from(length).map_err(|_| cut_off())
    }

    fn line(&mut self) -> Result<String, WeightsError> {
        let end = self.rest.iter().position(|byte| *byte == b'\n');
        let line = self.take(end.ok_or_else(cut_off)?)?;
        let line = String::from_utf8_lossy(line).into_owned();
        self.take(1)?;
        Ok(line)
    }
}

impl<'p> Machine<'p> {
    fn take(&mut self, length: usize) -> Result<&'p [u8], WeightsError> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(bytes)
    }
}

/// A number in as many bytes as it needs, the lowest first, of which the highest carries the sign.
fn signed(bytes: &[u8]) -> Option<i64> {
    let negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
    let mut full = [if negative { 0xff } else { 0 }; 8];
    full.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(full))
}

fn damaged(what: impl Into<String>) -> WeightsError {
    WeightsError::Pickle(what.into())
}

fn underflow() -> WeightsError {
    damaged("it uses values that it did not create")
}

fn cut_off() -> WeightsError {
    damaged("it is cut off")
}
