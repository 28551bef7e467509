//! The examples run.

#[path = "../../examples/custom_evaluator.rs"]
mod custom_evaluator;
#[path = "../../examples/hello.rs"]
mod hello;
#[path = "../../examples/two_models.rs"]
mod two_models;

#[test]
fn the_example_of_a_custom_evaluator_runs() {
    custom_evaluator::main().unwrap();
}

#[test]
fn the_smallest_example_runs() {
    hello::main().unwrap();
}

#[test]
fn the_example_of_two_models_runs() {
    two_models::main().unwrap();
}
