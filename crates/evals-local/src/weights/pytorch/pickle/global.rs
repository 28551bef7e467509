//! The names of functions and types in a pickle.

/// The functions and types that a table of tensors refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    Storage { number: &'static str, width: u64 },
}

impl Global {
    /// The meaning of a name; `None` for names that do not belong to a table of tensors.
    pub(super) fn named(module: &str, name: &str) -> Option<Self> {
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
