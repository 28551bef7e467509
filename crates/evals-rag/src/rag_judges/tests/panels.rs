//! Panels and repeats.

use std::num::NonZeroU32;

use evals::Evidence;

use super::super::Rule;
use super::*;

fn votes(evidence: &Evidence) -> Vec<(u32, &str)> {
    let votes = evidence.votes.iter();
    votes
        .map(|vote| (vote.repeat, vote.verdict.as_str()))
        .collect()
}

async fn asked(rule: Rule, replies: [&[&str]; 3]) -> (Vec<Evidence>, usize) {
    let [first, second, third] = replies;
    let one = Scripted::new([claims(&["a", "b"]), verdicts(first)]);
    let two = Scripted::new([verdicts(second)]);
    let three = Scripted::new([verdicts(third)]);
    let panel = Panel::new(Arc::clone(&one) as _, None)
        .member(Arc::clone(&two) as _, NonZeroU32::new(7))
        .member(Arc::clone(&three) as _, None)
        .rule(rule);
    assert_eq!(panel.votes(), 3);
    let judges = RagJudges::new(panel);
    let judged = judges
        .judge(JudgedMeasure::Faithfulness, &material())
        .await
        .unwrap();
    assert_eq!(two.requests()[0].max_tokens, NonZeroU32::new(7));
    let [outcome] = <[Outcome; 1]>::try_from(judged.outcomes).unwrap();
    (outcome.evidence, judged.calls.len())
}

#[tokio::test]
async fn a_majority_decides_and_every_vote_is_kept() {
    let replies: [&[&str]; 3] = [
        &["supported", "supported"],
        &["supported", "contradicted"],
        &["not found", "not found"],
    ];
    let (evidence, calls) = asked(Rule::Majority, replies).await;
    assert_eq!(calls, 4, "the first judge alone lists the claims");
    let verdicts: Vec<&str> = evidence.iter().map(|it| it.verdict.as_str()).collect();
    // Of two words with a vote each, the graver one is shown.
    assert_eq!(verdicts, ["supported", "contradicted"]);
    assert_eq!(
        votes(&evidence[1]),
        [(1, "supported"), (1, "contradicted"), (1, "not found")]
    );
    assert_eq!(evidence[0].votes[0].judge, "test:scripted");
    assert_eq!(evidence[0].reason.as_deref(), Some("because 1"));

    let (evidence, _) = asked(Rule::Unanimous, replies).await;
    assert!(evidence.iter().all(|it| !it.holds));
}

#[tokio::test]
async fn repeats_have_numbers_of_their_own_in_every_repetition_of_the_case() {
    let replies = [
        claims(&["a"]),
        verdicts(&["supported"]),
        verdicts(&["not found"]),
        verdicts(&["supported"]),
    ];
    let model = Scripted::new(replies);
    let three = NonZeroU32::new(3).unwrap();
    let panel = Panel::new(Arc::clone(&model) as _, None).repeats(three);
    let judges = RagJudges::new(panel);
    let second = Material {
        repeat: 2,
        ..material()
    };
    let judged = judges
        .judge(JudgedMeasure::Faithfulness, &second)
        .await
        .unwrap();
    let evidence = &judged.outcomes[0].evidence[0];
    assert_eq!(
        votes(evidence),
        [(1, "supported"), (2, "not found"), (3, "supported")]
    );
    assert!(evidence.holds);
    let requests = model.requests();
    let repeats: Vec<u32> = requests.iter().map(|request| request.repeat).collect();
    assert_eq!(repeats, [4, 4, 5, 6]);
}

#[tokio::test]
async fn a_judge_that_fails_fails_the_panel_and_the_calls_of_the_others_are_kept() {
    let one = Scripted::new([claims(&["a"]), verdicts(&["supported"])]);
    let two = Scripted::failing(evals_models::Failure::Transient);
    let three = Scripted::new([verdicts(&["supported"])]);
    let panel = Panel::new(one as _, None)
        .member(two as _, None)
        .member(three as _, None);
    let judges = RagJudges::new(panel);
    let error = judges
        .judge(JudgedMeasure::Faithfulness, &material())
        .await
        .unwrap_err();
    assert_eq!(error.calls.len(), 3);
    assert_eq!(error.failure.failure(), evals_models::Failure::Transient);
}

#[tokio::test]
async fn a_panel_counts_votes_on_the_equivalence_of_an_answer() {
    use crate::judging::{ChatJudge, Judge as _, Judged};
    let verdict =
        |pass: bool| said(&json!({"reason": format!("{pass}!"), "pass": pass}).to_string());
    let [one, two, three] = [false, true, true].map(|pass| Scripted::new([verdict(pass)]));
    let panel = Panel::new(one as _, None)
        .member(two as _, None)
        .member(three as _, None);
    let panel = ChatJudge::of_panel(panel);
    let judged = Judged {
        question: "Capital?",
        reference: "Paris",
        accepted: &[],
        answerable: true,
        answer: "Paris",
        refused: false,
        repeat: 1,
    };
    let found = panel.judge(judged).await.unwrap();
    assert_eq!((found.pass, found.reason.as_str()), (true, "true!"));
    assert_eq!(found.calls.len(), 3);
    let votes: Vec<bool> = found.votes.iter().map(|vote| vote.holds).collect();
    assert_eq!(votes, [false, true, true]);
}
