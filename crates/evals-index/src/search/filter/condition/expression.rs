//! The expression of a filter: which operators, literals and calls it may be made of, and how deep it may be nested.

use lancedb::datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, ObjectNamePart, UnaryOperator, Value, ValueWithSpan,
};

use super::{FUNCTIONS, excerpt, part, too_deep};

/// Checks an expression of at most `levels` levels. `chain` is the `AND` or `OR` that the expression is an operand of.
pub(super) fn check(
    expression: &Expr,
    levels: usize,
    chain: Option<&BinaryOperator>,
) -> Result<(), String> {
    match expression {
        Expr::Identifier(_) => return Ok(()),
        Expr::Value(value) => return check_value(value),
        Expr::Nested(inner) => return check(inner, levels, chain),
        _ => {}
    }
    let operator = match expression {
        // The number of `AND` and `OR` is limited; comparisons may be hundreds, so each of them is a level.
        Expr::BinaryOp {
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            ..
        } => Some(op),
        _ => None,
    };
    let continues = operator.is_some() && operator == chain;
    let Some(levels) = levels.checked_sub(usize::from(!continues)) else {
        return Err(too_deep());
    };
    let check = |part: &Expr| check(part, levels, operator);
    parts(expression)?.into_iter().try_for_each(check)
}

/// The expressions that an operator or a call is applied to, if filters may contain it.
fn parts(expression: &Expr) -> Result<Vec<&Expr>, String> {
    Ok(match expression {
        Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr: inner,
        } => vec![inner],
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr: inner,
        } if is_number(inner) => Vec::new(),
        Expr::BinaryOp { left, op, right } if is_known(op) => vec![left, right],
        Expr::Between {
            expr, low, high, ..
        } => vec![expr, low, high],
        Expr::InList { expr, list, .. } => {
            let expr: &Expr = expr;
            std::iter::once(expr).chain(list).collect()
        }
        Expr::Like {
            any: false,
            expr,
            pattern,
            ..
        }
        | Expr::ILike {
            any: false,
            expr,
            pattern,
            ..
        } if matches!(**pattern, Expr::Value(_)) => vec![expr, pattern],
        Expr::Cast {
            kind: CastKind::Cast | CastKind::TryCast,
            expr,
            data_type: DataType::Int(None) | DataType::BigInt(None) | DataType::Double(_),
            array: false,
            format: None,
        } => vec![expr],
        Expr::Function(function) => arguments(function)?,
        other => return Err(part(other)),
    })
}

fn is_known(operator: &BinaryOperator) -> bool {
    matches!(
        operator,
        BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
    )
}

fn is_number(expression: &Expr) -> bool {
    let Expr::Value(value) = expression else {
        return false;
    };
    matches!(value.value, Value::Number(_, false))
}

fn check_value(value: &ValueWithSpan) -> Result<(), String> {
    match &value.value {
        Value::Number(_, false)
        | Value::SingleQuotedString(_)
        | Value::Boolean(_)
        | Value::Null => Ok(()),
        other => Err(part(other)),
    }
}

/// The arguments of a plain call, if filters may call that function.
fn arguments(function: &Function) -> Result<Vec<&Expr>, String> {
    let plain = function.over.is_none()
        && function.filter.is_none()
        && function.null_treatment.is_none()
        && function.within_group.is_empty()
        && function.parameters == FunctionArguments::None
        && !function.uses_odbc_syntax;
    let ([ObjectNamePart::Identifier(name)], FunctionArguments::List(list), true) =
        (function.name.0.as_slice(), &function.args, plain)
    else {
        return Err(part(function));
    };
    if !FUNCTIONS.contains(&name.value.to_lowercase().as_str()) {
        let (name, known) = (excerpt(name), FUNCTIONS.join("`, `"));
        return Err(format!("filters cannot call `{name}`, only `{known}`"));
    }
    if list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        return Err(part(function));
    }
    let arguments = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Ok(argument),
        other => Err(part(other)),
    });
    arguments.collect()
}
