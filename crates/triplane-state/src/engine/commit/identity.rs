//! Whether a fact is on record already, and under which identity it is written if not.
//!
//! | on record under the key | [`Repeat::SameContent`] | [`Repeat::SameContentAndJudgement`] |
//! |---|---|---|
//! | nothing | write under the key | write under the key |
//! | same content | recorded | recorded if judged the same, else under key`#`digest of both |
//! | other content | under key`#`digest, unless that is there | the same, then judged as above |
//! | content of another shape | recorded | recorded if judged the same, else under key`#`digest of both |

use crate::commit::{PendingFact, Repeat};
use crate::engine::commit::receipt::Recorded;
use crate::engine::digest::sha256_hex;

/// A fact on record, as far as it is compared.
#[derive(Debug, Clone)]
pub(crate) struct OnRecord {
    pub(crate) shape: String,
    pub(crate) digest: String,
    pub(crate) recorded: Recorded,
}

/// Where a fact belongs.
#[derive(Debug)]
pub(crate) enum Place<'r> {
    /// It is new; it is written under this identity.
    Free(String),
    /// It stands there already.
    Taken(&'r OnRecord),
}

/// Every identity under which `fact` may stand, in the order in which they are asked.
pub(crate) fn identities(fact: &PendingFact) -> Vec<String> {
    let key = &fact.identity.key;
    let mut identities = vec![key.clone(), format!("{key}#{}", fact.identity.digest)];
    if fact.repeat == Repeat::SameContentAndJudgement {
        identities.push(format!("{key}#{}", digest_with_judgement(fact)));
    }
    identities
}

/// The place of `fact`, given what stands on record under its [`identities`].
pub(crate) fn place<'r>(
    fact: &PendingFact,
    on_record: impl Fn(&str) -> Option<&'r OnRecord>,
) -> Place<'r> {
    let mut identities = identities(fact).into_iter();
    let mut next = || identities.next().unwrap_or_default();
    let (key, with_content) = (next(), next());

    let Some(first) = on_record(&key) else {
        return Place::Free(key);
    };
    let comparable = first.shape == fact.identity.shape;
    let same_content = if comparable && first.digest != fact.identity.digest {
        match on_record(&with_content) {
            None => return Place::Free(with_content),
            Some(found) => found,
        }
    } else {
        first
    };
    if fact.repeat == Repeat::SameContent || judged_as(fact, &same_content.recorded) {
        return Place::Taken(same_content);
    }
    let with_judgement = next();
    match on_record(&with_judgement) {
        None => Place::Free(with_judgement),
        Some(found) => Place::Taken(found),
    }
}

fn judged_as(fact: &PendingFact, recorded: &Recorded) -> bool {
    let judgement = fact.judgement.as_ref();
    let decision = judgement.map(|judgement| judgement.decision.as_str());
    let rule = judgement.and_then(|judgement| judgement.rule.as_deref());
    decision == recorded.decision.as_deref() && rule == recorded.rule.as_deref()
}

fn digest_with_judgement(fact: &PendingFact) -> String {
    let judgement = fact.judgement.as_ref();
    let decision = judgement.map(|judgement| judgement.decision.as_str());
    let rule = judgement.and_then(|judgement| judgement.rule.as_deref());
    // Absent and empty differ.
    let marked = |part: Option<&str>| part.map_or(String::new(), |part| format!("={part}"));
    let (decision, rule) = (marked(decision), marked(rule));
    let parts = [fact.identity.digest.as_str(), &decision, &rule];
    sha256_hex(parts.map(str::as_bytes))
}
