//! An interpreter for the few operations in a pickled table of tensors.
//!
//! Values are in one list and refer to each other by their place in it, as objects do in Python. Nothing is copied, and dropping
//! nested values cannot overflow the stack.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::error::WeightsError;

/// Most values of a pickle. The tables of known models need tens of thousands.
const MAX_VALUES: usize = 1 << 20;

/// Longest name of a tensor that is accepted. A table may repeat one name many times.
const MAX_NAME: usize = 1024;

/// Most dimensions of a tensor; weights of transformers have at most four.
const MAX_DIMENSIONS: usize = 8;

type Result<T, E = WeightsError> = std::result::Result<T, E>;

/// A tensor as the pickle describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PickledTensor {
    pub(super) storage: Storage,
    /// Number of values in the storage before the first value of the tensor.
    pub(super) offset: usize,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
}

/// The storage of the values of one or more tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    /// The type of its values, as safetensors call it.
    pub(super) dtype: &'static str,
    /// Bytes of one value.
    pub(super) width: u64,
    /// The name of its record.
    pub(super) key: Rc<str>,
}

/// A function or type that a table of tensors refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    Storage { dtype: &'static str, width: u64 },
}

/// A value's place in the list of all values.
type Place = usize;

/// A value that the pickle creates.
#[derive(Debug)]
enum Value {
    /// `None`, booleans, floats and lists, on which no tensor depends.
    Other,
    Int(i64),
    Text(Rc<str>),
    Tuple(Vec<Place>),
    Dict(Vec<(Place, Place)>),
    Global(Global),
    Storage(Storage),
    Tensor(PickledTensor),
}

/// The tensors of the pickled table by name. Other entries are skipped.
pub(super) fn entries(pickle: &[u8]) -> Result<BTreeMap<String, PickledTensor>> {
    let mut unpickler = Unpickler {
        bytes: pickle,
        values: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: BTreeMap::new(),
    };
    let table = unpickler.run()?;
    let Value::Dict(entries) = &unpickler.values[table] else {
        return Err(malformed());
    };
    // One by one: a list of all entries would hold a name as often as the pickle repeats it.
    let mut named = BTreeMap::new();
    for (key, value) in entries {
        if let (Value::Text(name), Value::Tensor(tensor)) =
            (&unpickler.values[*key], &unpickler.values[*value])
        {
            named.insert(name.to_string(), tensor.clone());
        }
    }
    Ok(named)
}

impl Global {
    /// The meaning of a name. Names that do not belong to a table of tensors are refused.
    fn named(module: &str, name: &str) -> Result<Self> {
        let storage = |dtype, width| Ok(Self::Storage { dtype, width });
        match (module, name) {
            ("collections", "OrderedDict") => Ok(Self::OrderedDict),
            ("torch._utils", "_rebuild_tensor_v2") => Ok(Self::RebuildTensor),
            ("torch._utils", "_rebuild_parameter") => Ok(Self::RebuildParameter),
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
            _ => Err(WeightsError::Global(format!("{module}.{name}"))),
        }
    }
}

/// The state of the interpreter.
#[derive(Debug)]
struct Unpickler<'p> {
    /// What is not read yet.
    bytes: &'p [u8],
    values: Vec<Value>,
    stack: Vec<Place>,
    /// Heights of the stack at which groups of values begin.
    marks: Vec<usize>,
    memo: BTreeMap<i64, Place>,
}

impl<'p> Unpickler<'p> {
    /// Runs the pickle and returns the value that is left.
    fn run(&mut self) -> Result<Place> {
        loop {
            let operation = self.take(1)?[0];
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

    fn step(&mut self, operation: u8) -> Result<()> {
        match operation {
            // The protocol, and frames, which only help to read ahead.
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'N' | 0x88 | 0x89 | b']' => self.push(Value::Other),
            b'G' => self.take(8).map(|_| self.push(Value::Other))?,
            b'K' => self.integer(1, false)?,
            b'M' => self.integer(2, false)?,
            b'J' => self.integer(4, true)?,
            0x8a => {
                let length = self.number(1, false)?;
                self.integer(length, true)?;
            }
            b'X' => self.string(4)?,
            0x8c => self.string(1)?,
            b'q' => self.remember(1)?,
            b'r' => self.remember(4)?,
            0x94 => self.remember(0)?,
            b'h' => self.recall(1)?,
            b'j' => self.recall(4)?,
            b')' => self.push(Value::Tuple(Vec::new())),
            b't' => {
                let parts = self.since_mark()?;
                self.push(Value::Tuple(parts));
            }
            0x85..=0x87 => {
                let parts = self.last(usize::from(operation - 0x84))?;
                self.push(Value::Tuple(parts));
            }
            b'}' => self.push(Value::Dict(Vec::new())),
            b's' => {
                let added = self.last(2)?;
                self.insert(&added)?;
            }
            b'u' => {
                let added = self.since_mark()?;
                self.insert(&added)?;
            }
            b'c' => {
                let global = Global::named(&self.line()?, &self.line()?)?;
                self.push(Value::Global(global));
            }
            0x93 => {
                let names = self.last(2)?;
                let global = Global::named(&self.text(names[0])?, &self.text(names[1])?)?;
                self.push(Value::Global(global));
            }
            b'Q' => self.storage()?,
            b'R' => self.call()?,
            // Elements of lists, discarded values, and attributes of the table such as `_metadata`.
            b'a' | b'0' | b'b' => drop(self.pop()?),
            b'e' => drop(self.since_mark()?),
            other => return Err(damaged(format!("it uses the operation {other:#04x}"))),
        }
        Ok(())
    }

    fn take(&mut self, length: usize) -> Result<&'p [u8]> {
        let taken = self.bytes.split_at_checked(length);
        let (bytes, rest) = taken.ok_or_else(malformed)?;
        self.bytes = rest;
        Ok(bytes)
    }

    /// The text up to the next line end.
    fn line(&mut self) -> Result<String> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n');
        let line = self.take(end.map_or(usize::MAX, |end| end + 1))?;
        Ok(String::from_utf8_lossy(&line[..line.len() - 1]).into_owned())
    }

    /// A number of `length` bytes in little-endian order. If it is signed, its highest bit is the sign.
    fn number(&mut self, length: i64, is_signed: bool) -> Result<i64> {
        let bytes = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        let is_negative = is_signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
        let mut full = [if is_negative { 0xff } else { 0 }; 8];
        let low = full.get_mut(..bytes.len());
        low.ok_or_else(malformed)?.copy_from_slice(bytes);
        Ok(i64::from_le_bytes(full))
    }

    fn integer(&mut self, length: i64, is_signed: bool) -> Result<()> {
        let value = self.number(length, is_signed)?;
        self.push(Value::Int(value));
        Ok(())
    }

    /// A text after its length, which has `length` bytes.
    fn string(&mut self, length: i64) -> Result<()> {
        let length = usize::try_from(self.number(length, false)?).unwrap_or(usize::MAX);
        if length > MAX_NAME {
            return Err(malformed());
        }
        let text = std::str::from_utf8(self.take(length)?);
        let text = text.map_err(|_| malformed())?;
        self.push(Value::Text(text.into()));
        Ok(())
    }

    /// Remembers the last value by a key of `length` bytes, or by the next free one.
    fn remember(&mut self, length: i64) -> Result<()> {
        let key = match length {
            0 => i64::try_from(self.memo.len()).map_err(|_| malformed())?,
            _ => self.number(length, false)?,
        };
        let top = *self.stack.last().ok_or_else(malformed)?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn recall(&mut self, length: i64) -> Result<()> {
        let key = self.number(length, false)?;
        let place = *self.memo.get(&key).ok_or_else(malformed)?;
        self.stack.push(place);
        Ok(())
    }

    fn insert(&mut self, added: &[Place]) -> Result<()> {
        let (pairs, []) = added.as_chunks::<2>() else {
            return Err(malformed());
        };
        let top = *self.stack.last().ok_or_else(malformed)?;
        let Value::Dict(entries) = &mut self.values[top] else {
            return Err(malformed());
        };
        entries.extend(pairs.iter().map(|[key, value]| (*key, *value)));
        Ok(())
    }

    /// Finds the storage that a tuple names: the word `storage`, its type, its key, a device, the number of its values.
    fn storage(&mut self) -> Result<()> {
        let identifier = self.pop()?;
        if let [_, kind, key, ..] = self.parts(identifier)?
            && let Value::Global(Global::Storage { dtype, width }) = self.values[*kind]
        {
            let key = self.text(*key)?;
            self.push(Value::Storage(Storage { dtype, width, key }));
            return Ok(());
        }
        Err(malformed())
    }

    /// Has the effect of calling one of the known functions.
    fn call(&mut self) -> Result<()> {
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
                return Err(malformed());
            }
        };
        self.push(made);
        Ok(())
    }

    fn tensor(&self, [storage, offset, shape, strides]: [Place; 4]) -> Result<PickledTensor> {
        let sizes = |place: Place| {
            let parts = self.parts(place)?;
            if parts.len() > MAX_DIMENSIONS {
                return Err(malformed());
            }
            parts.iter().map(|part| self.size(*part)).collect()
        };
        let Value::Storage(storage) = &self.values[storage] else {
            return Err(malformed());
        };
        Ok(PickledTensor {
            storage: storage.clone(),
            offset: self.size(offset)?,
            shape: sizes(shape)?,
            strides: sizes(strides)?,
        })
    }

    fn size(&self, place: Place) -> Result<usize> {
        let size = match self.values[place] {
            Value::Int(number) => usize::try_from(number).ok(),
            _ => None,
        };
        size.ok_or_else(malformed)
    }

    fn text(&self, place: Place) -> Result<Rc<str>> {
        match &self.values[place] {
            Value::Text(text) => Ok(Rc::clone(text)),
            _ => Err(malformed()),
        }
    }

    /// The parts of a tuple.
    fn parts(&self, place: Place) -> Result<&[Place]> {
        match &self.values[place] {
            Value::Tuple(parts) => Ok(parts),
            _ => Err(malformed()),
        }
    }

    fn push(&mut self, value: Value) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    fn pop(&mut self) -> Result<Place> {
        self.stack.pop().ok_or_else(malformed)
    }

    /// Takes the last `count` values off the stack.
    fn last(&mut self, count: usize) -> Result<Vec<Place>> {
        let kept = self.stack.len().checked_sub(count).ok_or_else(malformed)?;
        Ok(self.stack.split_off(kept))
    }

    /// Takes off the stack what came after the last mark.
    fn since_mark(&mut self) -> Result<Vec<Place>> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        Ok(self.stack.split_off(mark.ok_or_else(malformed)?))
    }
}

/// The error for everything that `torch.save` does not write for a table of tensors.
fn malformed() -> WeightsError {
    damaged("it is not a table of tensors")
}

fn damaged(fault: impl Into<String>) -> WeightsError {
    WeightsError::Damaged {
        part: "pickle `data.pkl`",
        fault: fault.into(),
    }
}
