//! rten, as it runs ONNX models.

use std::path::Path;

use anyhow::Result;
use rten::{Model, NodeId};
use rten_tensor::NdTensor;

use crate::batch::{Batch, Engine};

/// rten on an ONNX file.
pub(crate) struct Rten {
    model: Model,
    inputs: [NodeId; 3],
    states: NodeId,
}

impl Rten {
    pub(crate) fn open(file: &Path) -> Result<Self> {
        let model = Model::load_file(file)?;
        let node = |name| model.node_id(name);
        let inputs = [
            node("input_ids")?,
            node("attention_mask")?,
            node("token_type_ids")?,
        ];
        let states = node("states")?;
        Ok(Self {
            model,
            inputs,
            states,
        })
    }
}

impl Engine for Rten {
    fn states(&mut self, batch: &Batch) -> Result<Vec<f32>> {
        let tensor = |values: &[u32]| {
            let values = values.iter().map(|&value| i32::try_from(value));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            Ok::<_, anyhow::Error>(NdTensor::from_data([batch.texts, batch.length], values))
        };
        let [ids, mask, types] = self.inputs;
        let inputs = vec![
            (ids, tensor(&batch.ids)?.into()),
            (mask, tensor(&batch.mask)?.into()),
            (
                types,
                NdTensor::<i32, 2>::zeros([batch.texts, batch.length]).into(),
            ),
        ];
        let [states] = self.model.run_n(inputs, [self.states], None)?;
        let states: NdTensor<f32, 3> = states.try_into()?;
        Ok(states.into_data())
    }
}
