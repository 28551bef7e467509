//! DeBERTa-v2 and v3: disentangled attention to contents and distances, normalisation after each half of a layer.

use std::sync::Arc;

use serde::Deserialize;

use super::bert_layer::{BertLayer, TOKENS};
use super::builder::Builder;
use super::config::{CONFIG, activation, gelu};
use crate::encoder::{
    Buckets, Disentangled, Encoder, NormPlace, PositionScheme, Positions, TokenEmbeddings,
};
use crate::error::LocalError;
use crate::folder::Folder;

const PROJECTIONS: [&str; 3] = ["query_proj", "key_proj", "value_proj"];

#[derive(Debug, Deserialize)]
struct Config {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    type_vocab_size: usize,
    #[serde(default)]
    relative_attention: bool,
    /// 0 or less means the number of positions.
    #[serde(default)]
    max_relative_positions: i64,
    /// 0 or less means one for each distance.
    #[serde(default)]
    position_buckets: i64,
    #[serde(default = "yes")]
    position_biased_input: bool,
    #[serde(default)]
    share_att_key: bool,
    #[serde(default)]
    pos_att_type: Kinds,
    norm_rel_ebd: Option<String>,
    #[serde(default)]
    conv_kernel_size: usize,
    embedding_size: Option<usize>,
    attention_head_size: Option<usize>,
}

/// The kinds of products with distances: a list, or its elements joined by `|`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Kinds {
    Joined(String),
    List(Vec<String>),
    Absent(()),
}

impl Default for Kinds {
    fn default() -> Self {
        Self::Absent(())
    }
}

impl Kinds {
    fn names(&self) -> Vec<String> {
        match self {
            Self::Joined(names) => split(names),
            Self::List(names) => names.clone(),
            Self::Absent(()) => Vec::new(),
        }
    }
}

fn split(names: &str) -> Vec<String> {
    let names = names.to_lowercase();
    names
        .split('|')
        .map(|name| name.trim().to_owned())
        .collect()
}

fn epsilon() -> f32 {
    1e-7
}

fn yes() -> bool {
    true
}

/// The part of disentangled attention that all layers share.
#[derive(Debug)]
struct Distances {
    buckets: Arc<Buckets>,
    /// One vector for each bucket. Each layer has its own maps for them.
    vectors: Vec<f32>,
    content_to_position: bool,
    position_to_content: bool,
}

impl Config {
    /// Refuses variants that no published embedder or cross-encoder uses.
    fn check(&self, folder: &Folder) -> Result<(), LocalError> {
        let refused = |key, value: String| Err(folder.unsupported(CONFIG, key, value));
        if !self.relative_attention {
            return refused("relative_attention", "false".to_owned());
        }
        if self.conv_kernel_size > 0 {
            return refused("conv_kernel_size", self.conv_kernel_size.to_string());
        }
        if let Some(size) = self.embedding_size
            && size != self.hidden_size
        {
            return refused("embedding_size", size.to_string());
        }
        if let Some(size) = self.attention_head_size
            && size * self.num_attention_heads != self.hidden_size
        {
            return refused("attention_head_size", size.to_string());
        }
        let mut kinds = self.pos_att_type.names().into_iter();
        match kinds.find(|kind| !["c2p", "p2c"].contains(&kind.as_str())) {
            Some(kind) => refused("pos_att_type", kind),
            None => Ok(()),
        }
    }

    fn distances(&self, folder: &Folder, builder: &Builder) -> Result<Distances, LocalError> {
        let width = self.hidden_size;
        let positive = |number: i64| usize::try_from(number).ok().filter(|number| *number > 0);
        let farthest = positive(self.max_relative_positions);
        let farthest = farthest.unwrap_or(self.max_position_embeddings);
        let buckets = positive(self.position_buckets);
        // Distances up to half the number of buckets have one each. Longer ones share buckets by their logarithm.
        let exact = buckets.map(|buckets| buckets / 2 + 1);
        if exact.is_some_and(|exact| farthest <= exact && exact < self.max_position_embeddings) {
            let value = farthest.to_string();
            return Err(folder.unsupported(CONFIG, "max_relative_positions", value));
        }
        let span = buckets.unwrap_or(farthest);
        let name = "encoder.rel_embeddings.weight";
        let mut vectors = builder.weights.tensor(name, &[2 * span, width])?;
        for norm in split(self.norm_rel_ebd.as_deref().unwrap_or("none")) {
            match norm.as_str() {
                "none" => {}
                "layer_norm" => builder
                    .norm("encoder.LayerNorm", width, self.layer_norm_eps)?
                    .apply(&mut vectors),
                _ => return Err(folder.unsupported(CONFIG, "norm_rel_ebd", norm)),
            }
        }
        let kinds = self.pos_att_type.names();
        let has = |kind| kinds.iter().any(|name| name == kind);
        Ok(Distances {
            buckets: Arc::new(Buckets::new(
                self.max_position_embeddings,
                span,
                buckets,
                farthest,
            )),
            vectors,
            content_to_position: has("c2p"),
            position_to_content: has("p2c"),
        })
    }
}

pub(super) fn encoder(folder: &Folder, builder: Builder) -> Result<(Encoder, Builder), LocalError> {
    let config: Config = folder.required(CONFIG)?;
    config.check(folder)?;
    let activation = activation(folder, "hidden_act", &config.hidden_act)?;
    let distances = config.distances(folder, &builder)?;
    let layer = BertLayer {
        width: config.hidden_size,
        wide: config.intermediate_size,
        heads: config.num_attention_heads,
        activation,
        epsilon: config.layer_norm_eps,
    };
    let layers = (0..config.num_hidden_layers)
        .map(|index| {
            let name = format!("encoder.layer.{index}");
            let positions = positions(&config, &distances, &builder, &name)?;
            layer.load(&builder, &name, PROJECTIONS, positions)
        })
        .collect::<Result<_, _>>()?;
    let encoder = Encoder {
        embeddings: embeddings(&config, &builder)?,
        layers,
        norm_place: NormPlace::After,
        final_norm: None,
        max_positions: Some(config.max_position_embeddings),
    };
    Ok((encoder, builder))
}

fn embeddings(config: &Config, builder: &Builder) -> Result<TokenEmbeddings, LocalError> {
    let width = config.hidden_size;
    let table = |name: &str| builder.table(&format!("embeddings.{name}.weight"), width);
    let positions = || {
        let name = "embeddings.position_embeddings.weight";
        let shape = [config.max_position_embeddings, width];
        let rows = builder.weights.tensor(name, &shape)?;
        Ok(Positions {
            rows,
            first: 0,
            uncounted: None,
        })
    };
    Ok(TokenEmbeddings {
        words: builder.table(TOKENS, width)?,
        positions: config.position_biased_input.then(positions).transpose()?,
        segments: (config.type_vocab_size > 0)
            .then(|| table("token_type_embeddings"))
            .transpose()?,
        norm: Some(builder.norm("embeddings.LayerNorm", width, config.layer_norm_eps)?),
        width,
    })
}

fn positions(
    config: &Config,
    distances: &Distances,
    builder: &Builder,
    name: &str,
) -> Result<PositionScheme, LocalError> {
    let width = config.hidden_size;
    let (keys, queries) = if config.share_att_key {
        ("key_proj", "query_proj")
    } else {
        ("pos_key_proj", "pos_query_proj")
    };
    let table = |there: bool, part: &str| {
        let name = format!("{name}.attention.self.{part}");
        let mapped = || builder.mapped(&distances.vectors, &name, width, width);
        there.then(mapped).transpose()
    };
    Ok(PositionScheme::Disentangled(Disentangled {
        buckets: Arc::clone(&distances.buckets),
        keys: table(distances.content_to_position, keys)?,
        queries: table(distances.position_to_content, queries)?,
        width,
    }))
}
