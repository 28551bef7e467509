//! `tokenizer_config.json`, which changes how `tokenizer.json` reads texts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::{Tokenizer, TruncationDirection};

use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;

const FILE: &str = "tokenizer_config.json";

/// The name of segments among the inputs of a model.
const SEGMENTS: &str = "token_type_ids";

/// Tokenizer classes of transformers that normalise texts as BERT's does.
const LIKE_BERT: [&str; 4] = [
    "BertTokenizer",
    "DistilBertTokenizer",
    "ElectraTokenizer",
    "MPNetTokenizer",
];
const ROBERTA: &str = "RobertaTokenizer";

/// The keys that matter here. Those that change how a text is read are serialized for the [fingerprint](Self::fingerprint).
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct TokenizerConfig {
    /// Larger than any model's if it is unknown.
    #[serde(skip_serializing)]
    model_max_length: Option<f64>,
    /// The older name of `model_max_length`.
    #[serde(skip_serializing)]
    max_len: Option<f64>,
    /// The inputs of the model. Default: all that `tokenizer.json` produces.
    model_input_names: Option<Vec<String>>,
    /// Which end of a long text is cut off. Default: as `tokenizer.json` states.
    truncation_side: Option<String>,
    tokenizer_class: Option<String>,
    do_lower_case: Option<bool>,
    strip_accents: Option<bool>,
    tokenize_chinese_chars: Option<bool>,
    add_prefix_space: Option<bool>,
    split_special_tokens: Option<bool>,
}

impl TokenizerConfig {
    pub(crate) fn read(folder: &Folder) -> Result<Self, LocalError> {
        folder.permit(FILE, &[("split_special_tokens", &["false"])])?;
        Ok(folder.json(FILE)?.unwrap_or_default())
    }

    /// The most tokens of a text, if the file states them.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the filter removes the values that mean `unknown`"
    )]
    pub(crate) fn limit(&self) -> Option<usize> {
        let known = self
            .model_max_length
            .or(self.max_len)
            .filter(|limit| (1.0..1e9).contains(limit));
        known.map(|limit| limit as usize)
    }

    /// Whether segments are an input of the model.
    pub(crate) fn has_segments(&self) -> bool {
        let given = self.model_input_names.as_ref();
        given.is_none_or(|names| names.iter().any(|name| name == SEGMENTS))
    }

    /// The end of long texts that is cut off. `carried` is the one in `tokenizer.json`.
    pub(crate) fn truncated_end(
        &self,
        folder: &Folder,
        carried: Option<TruncationDirection>,
    ) -> Result<TruncationDirection, LocalError> {
        match self.truncation_side.as_deref() {
            None => Ok(carried.unwrap_or_default()),
            Some("right") => Ok(TruncationDirection::Right),
            Some("left") => Ok(TruncationDirection::Left),
            Some(other) => Err(folder.unsupported(FILE, "truncation_side", other)),
        }
    }

    /// Changes the tokenizer as its class in transformers does. Classes like BERT's take case and accents from this file, the class of
    /// `RoBERTa` the space before the first word. `ModernBERT` uses `tokenizer.json` alone.
    pub(crate) fn apply(
        &self,
        family: Family,
        tokenizer: &mut Tokenizer,
    ) -> tokenizers::Result<()> {
        if family == Family::ModernBert {
            return Ok(());
        }
        let class = self.class(family);
        if LIKE_BERT.contains(&class)
            && let Some(NormalizerWrapper::BertNormalizer(present)) = tokenizer.get_normalizer()
        {
            let mut normalizer = *present;
            normalizer.lowercase = self.do_lower_case.unwrap_or(true);
            normalizer.strip_accents = self.strip_accents;
            normalizer.handle_chinese_chars = self.tokenize_chinese_chars.unwrap_or(true);
            tokenizer.with_normalizer(Some(normalizer))?;
        }
        if class == ROBERTA
            && let Some(PreTokenizerWrapper::ByteLevel(present)) = tokenizer.get_pre_tokenizer()
        {
            let mut bytes = *present;
            bytes.add_prefix_space = self.add_prefix_space.unwrap_or(false);
            tokenizer.with_pre_tokenizer(Some(bytes));
        }
        Ok(())
    }

    /// The class by its current name. Earlier versions had two of each, one of them ending in `Fast`.
    fn class(&self, family: Family) -> &str {
        match &self.tokenizer_class {
            Some(class) => class.strip_suffix("Fast").unwrap_or(class),
            None => match family {
                Family::Bert | Family::NomicBert => LIKE_BERT[0],
                Family::Roberta => ROBERTA,
                _ => "",
            },
        }
    }

    /// Everything in the file that tokens depend on.
    pub(crate) fn fingerprint(&self) -> String {
        serde_json::to_string(self).expect("its keys are text")
    }
}

/// The texts of the special tokens that a file of the tokenizer states, by their keys. A token is written as text, or as an object
/// that also states how it is matched.
pub(crate) fn special_tokens(
    folder: &Folder,
    file: &str,
) -> Result<BTreeMap<String, String>, LocalError> {
    let stated: BTreeMap<String, Value> = folder.json(file)?.unwrap_or_default();
    let mut tokens = BTreeMap::new();
    for (key, value) in stated
        .into_iter()
        .filter(|(key, _)| key.ends_with("_token"))
    {
        let text = match &value {
            Value::String(text) => text,
            Value::Object(token) => match token.get("content") {
                Some(Value::String(content)) => content,
                _ => return Err(folder.unsupported(file, "content", key)),
            },
            // Switches such as `add_bos_token`, and tokens that are `null`.
            _ => continue,
        };
        tokens.insert(key, text.clone());
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use tokenizers::models::bpe::BPE;
    use tokenizers::normalizers::BertNormalizer;
    use tokenizers::pre_tokenizers::byte_level::ByteLevel;

    use super::*;

    fn config(text: &str) -> TokenizerConfig {
        serde_json::from_str(text).unwrap()
    }

    fn has_space(family: Family, stated: &str, carried: bool) -> bool {
        let mut tokenizer = Tokenizer::new(BPE::default());
        tokenizer.with_pre_tokenizer(Some(ByteLevel::new(carried, true, true)));
        config(stated).apply(family, &mut tokenizer).unwrap();
        match tokenizer.get_pre_tokenizer() {
            Some(PreTokenizerWrapper::ByteLevel(bytes)) => bytes.add_prefix_space,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_word_of_roberta_has_a_space_before_it_if_the_configuration_states_so() {
        let stated = r#"{"add_prefix_space": true}"#;
        assert!(has_space(Family::Roberta, stated, false));
        assert!(!has_space(Family::Roberta, "{}", true));
        // Other classes use `tokenizer.json`, and so do other families unless they name the class.
        assert!(!has_space(Family::Bert, stated, false));
        let general = r#"{"add_prefix_space": true, "tokenizer_class": "PreTrainedTokenizerFast"}"#;
        assert!(!has_space(Family::Roberta, general, false));
        let named = r#"{"add_prefix_space": true, "tokenizer_class": "RobertaTokenizerFast"}"#;
        assert!(has_space(Family::Bert, named, false));
        assert!(!has_space(Family::ModernBert, named, false));
    }

    #[test]
    fn case_and_accents_default_to_those_of_the_class() {
        let normalizer = |family, stated| {
            let mut tokenizer = Tokenizer::new(BPE::default());
            let carried = BertNormalizer::new(false, false, Some(true), false);
            tokenizer.with_normalizer(Some(carried)).unwrap();
            config(stated).apply(family, &mut tokenizer).unwrap();
            match tokenizer.get_normalizer() {
                Some(NormalizerWrapper::BertNormalizer(found)) => (
                    found.handle_chinese_chars,
                    found.strip_accents,
                    found.lowercase,
                ),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(normalizer(Family::Bert, "{}"), (true, None, true));
        assert_eq!(
            normalizer(Family::XlmRoberta, "{}"),
            (false, Some(true), false)
        );
        let electra = r#"{"tokenizer_class": "ElectraTokenizerFast", "strip_accents": false}"#;
        assert_eq!(
            normalizer(Family::XlmRoberta, electra),
            (true, Some(false), true)
        );
    }
}
