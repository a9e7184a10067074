//! Arithmetic on decimal numbers: `addf`, `subf`, `mulf` and `divf` have no binary rounding.
//!
//! Source: shopspring/decimal 1.4.

use num_bigint::BigInt;

use super::super::Arguments as _;
use super::super::table::{Result, Row};
use super::to_float;
use crate::fault::Fault;
use crate::value::Value;

pub(super) const ROWS: &[Row] = &[
    ("add1f", "a", |_, args| calculate(args.value(0), &[Value::Int(1)], |a, b| Ok(a.add(b)))),
    ("addf", "*a", |_, args| calculate(&Value::Float(0.0), args, |a, b| Ok(a.add(b)))),
    ("subf", "a*a", |_, args| calculate(args.value(0), &args[1..], |a, b| Ok(a.add(&b.negated())))),
    ("mulf", "a*a", |_, args| calculate(args.value(0), &args[1..], |a, b| Ok(a.multiply(b)))),
    ("divf", "a*a", |_, args| calculate(args.value(0), &args[1..], Decimal::divide)),
];

/// The digits behind the point that a division computes.
const PRECISION: i64 = 16;
/// The most digits of a number; more come only from hostile templates.
const LONGEST: u64 = 100_000;

/// A number `coefficient · 10^exponent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Decimal {
    coefficient: BigInt,
    exponent: i64,
}

fn calculate(
    first: &Value,
    rest: &[Value],
    operation: impl Fn(&Decimal, &Decimal) -> std::result::Result<Decimal, Fault>,
) -> Result {
    let mut result = Decimal::new(to_float(first))?;
    for value in rest {
        result = operation(&result, &Decimal::new(to_float(value))?)?;
        if result.coefficient.bits() > LONGEST {
            return Err("the number has too many digits".into());
        }
    }
    Ok(Value::Float(result.to_float()))
}

impl Decimal {
    /// Reads the shortest decimal form of a float.
    pub(in super::super) fn new(value: f64) -> std::result::Result<Self, Fault> {
        if !value.is_finite() {
            let shown = if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            };
            return Err(Fault::new(format!("Cannot create a Decimal from {shown}")));
        }
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let coefficient = format!("{whole}{fraction}").parse().unwrap_or_default();
        let exponent: i64 = exponent.parse().unwrap_or_default();
        Ok(Self { coefficient, exponent: exponent - i64::try_from(fraction.len()).unwrap_or_default() })
    }

    fn add(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self { coefficient: self.at(exponent) + other.at(exponent), exponent }
    }

    fn negated(&self) -> Self {
        Self { coefficient: -&self.coefficient, exponent: self.exponent }
    }

    fn multiply(&self, other: &Self) -> Self {
        let coefficient = &self.coefficient * &other.coefficient;
        Self { coefficient, exponent: self.exponent + other.exponent }
    }

    /// Divides to 16 digits behind the point; halves are rounded away from zero.
    fn divide(&self, other: &Self) -> std::result::Result<Self, Fault> {
        if other.coefficient == BigInt::ZERO {
            return Err("decimal division by 0".into());
        }
        let shift = PRECISION + self.exponent - other.exponent;
        let (mut dividend, mut divisor) = (self.coefficient.clone(), other.coefficient.clone());
        if shift >= 0 {
            dividend *= power(shift);
        } else {
            divisor *= power(-shift);
        }
        let (quotient, remainder) = (&dividend / &divisor, &dividend % &divisor);
        let is_negative = (dividend < BigInt::ZERO) != (divisor < BigInt::ZERO);
        let is_rounded = remainder.magnitude() * 2_u32 >= *divisor.magnitude();
        let step = if is_negative { BigInt::from(-1) } else { BigInt::from(1) };
        let coefficient = if is_rounded { quotient + step } else { quotient };
        Ok(Self { coefficient, exponent: -PRECISION })
    }

    /// Returns the coefficient for a smaller exponent.
    fn at(&self, exponent: i64) -> BigInt {
        &self.coefficient * power(self.exponent - exponent)
    }

    fn to_float(&self) -> f64 {
        format!("{}e{}", self.coefficient, self.exponent).parse().unwrap_or_default()
    }
}

fn power(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent.max(0)).unwrap_or(0))
}
