//! The examples run.

#[path = "../../examples/custom_evaluator.rs"]
mod custom_evaluator;

#[test]
fn the_example_of_a_custom_evaluator_runs() {
    custom_evaluator::main().unwrap();
}
