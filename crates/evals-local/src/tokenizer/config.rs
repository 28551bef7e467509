//! What `tokenizer_config.json` says beside `tokenizer.json`.

use serde::{Deserialize, Serialize};
use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::{Tokenizer, TruncationDirection};

use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;

const FILE: &str = "tokenizer_config.json";

/// The name of segments among a model's inputs.
const SEGMENTS: &str = "token_type_ids";

/// Classes of transformers that read texts as BERT's does.
const LIKE_BERT: [&str; 4] = [
    "BertTokenizer",
    "DistilBertTokenizer",
    "ElectraTokenizer",
    "MPNetTokenizer",
];
const ROBERTA: &str = "RobertaTokenizer";

/// The keys that matter here. Serialized are those that change how a text is read.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct TokenizerConfig {
    /// Far more than any model has where it is not known.
    #[serde(skip_serializing)]
    model_max_length: Option<f64>,
    /// The older name of the same.
    #[serde(skip_serializing)]
    max_len: Option<f64>,
    /// What the model is given. Where it is not stated, all that `tokenizer.json` has.
    model_input_names: Option<Vec<String>>,
    /// Which end of a long text is left out. Where it is not stated, that which `tokenizer.json` carries.
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
        let config: Self = folder.json(FILE)?.unwrap_or_default();
        if config.split_special_tokens == Some(true) {
            return Err(folder.unsupported(FILE, "split_special_tokens", "true"));
        }
        Ok(config)
    }

    /// Tokens of a text that the tokenizer was made for, where the file knows.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the values that stand for `unknown` were sorted out"
    )]
    pub(crate) fn limit(&self) -> Option<usize> {
        let known = self
            .model_max_length
            .or(self.max_len)
            .filter(|limit| (1.0..1e9).contains(limit));
        known.map(|limit| limit as usize)
    }

    /// Whether the model is told the segments of tokens.
    pub(crate) fn has_segments(&self) -> bool {
        let given = self.model_input_names.as_ref();
        given.is_none_or(|names| names.iter().any(|name| name == SEGMENTS))
    }

    /// The end of long texts that is left out; `carried` is what `tokenizer.json` has.
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

    /// Lets the tokenizer read texts as its class in transformers does, which goes by this file: the classes like that of BERT
    /// in letters and accents, that of `RoBERTa` in the space before the first word. `ModernBERT` goes by `tokenizer.json`
    /// alone.
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

    /// The class by its present name: earlier versions had two of each, one of them `Fast`.
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

    /// Names everything in the file that tokens depend on.
    pub(crate) fn fingerprint(&self) -> String {
        serde_json::to_string(self).expect("its keys are text")
    }
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
    fn the_first_word_of_roberta_has_a_space_before_it_where_its_configuration_says_so() {
        let stated = r#"{"add_prefix_space": true}"#;
        assert!(has_space(Family::Roberta, stated, false));
        assert!(!has_space(Family::Roberta, "{}", true));
        // Other classes go by `tokenizer.json`, those of other families unless they are named.
        assert!(!has_space(Family::Bert, stated, false));
        let general = r#"{"add_prefix_space": true, "tokenizer_class": "PreTrainedTokenizerFast"}"#;
        assert!(!has_space(Family::Roberta, general, false));
        let named = r#"{"add_prefix_space": true, "tokenizer_class": "RobertaTokenizerFast"}"#;
        assert!(has_space(Family::Bert, named, false));
        assert!(!has_space(Family::ModernBert, named, false));
    }

    #[test]
    fn letters_are_read_as_the_class_has_them_where_nothing_is_stated() {
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
