//! An interpreter for the few operations in a pickled table of tensors.
//!
//! Values are in one list and refer to each other by their place in it, as objects do in Python. Nothing is copied, and dropping
//! nested values cannot overflow the stack.

mod bytes;
mod calls;
mod global;
mod machine;
mod tensor;

use std::collections::BTreeMap;

use self::machine::{Machine, Value};
pub(super) use self::tensor::Tensor;
use crate::error::WeightsError;

/// The tensors of the pickled table by name. Other entries are skipped.
pub(super) fn entries(pickle: &[u8]) -> Result<BTreeMap<String, Tensor>, WeightsError> {
    let mut machine = Machine::new(pickle);
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

fn damaged(what: impl Into<String>) -> WeightsError {
    WeightsError::Pickle(what.into())
}
