//! Variances of a matrix in any direction.

use super::{IdealisedSketch, Normals, SketchParameters};
use crate::error::{Error, check};
use nalgebra::{DMatrix, DVector};

/// A sketch that estimates |A x|^2 for any direction x and its matrix A.
#[derive(Clone, Debug, PartialEq)]
pub struct VarianceSketch {
    /// One random direction in each row: normal with covariance A'A + w^2 I.
    rows: DMatrix<f64>,
    weight: f64,
    eta: f64,
}

impl SketchParameters {
    /// Sketches a matrix, given row by row. Neighbours differ in one row, by at most one in Euclidean distance.
    ///
    /// # Errors
    /// [`Error::Length`] unless the rows have equal lengths of 1 to 10^4, and there are 1 to 10^7;
    /// [`Error::OutOfRange`] unless all entries are finite; [`Error::Randomness`] if the source of randomness fails.
    pub fn variances(&self, matrix: &[Vec<f64>]) -> Result<IdealisedSketch<VarianceSketch>, Error> {
        let (what, length, legal) = ("matrix", matrix.len(), "1 to 10^7 rows");
        let first = matrix.first().filter(|_| length <= 10_000_000);
        let columns = first.ok_or(Error::Length { what, length, legal })?.len();
        for row in matrix {
            if row.len() != columns || !(1..=10_000).contains(&columns) {
                let (what, legal) = ("a row", "as many as the others, 1 to 10^4");
                return Err(Error::Length { what, length: row.len(), legal });
            }
            let bad = row.iter().copied().find(|x| !x.is_finite());
            check(bad.is_none(), "entry", bad.unwrap_or(0.0), "a finite number")?;
        }
        let weight = self.variance_weight();
        let mut rows = DMatrix::zeros(self.directions as usize, columns);
        let mut normals = Normals::default();
        for mut row in rows.row_iter_mut() {
            for entry in &mut row {
                *entry = weight * normals.next()?;
            }
            for one in matrix {
                let push = normals.next()?;
                row.iter_mut().zip(one).for_each(|(entry, x)| *entry += push * x);
            }
        }
        let claim = self.claim("matrices that differ in one row, by at most 1 in Euclidean norm");
        Ok(IdealisedSketch { sketch: VarianceSketch { rows, weight, eta: self.eta }, claim })
    }
}

impl VarianceSketch {
    /// An estimate of |A x|^2.
    ///
    /// # Errors
    /// [`Error::Length`] unless x has as many entries as a row.
    pub fn variance(&self, x: &[f64]) -> Result<f64, Error> {
        let (what, length, legal) = ("direction", x.len(), "as many as a row of the matrix");
        if length != self.rows.ncols() {
            return Err(Error::Length { what, length, legal });
        }
        let x = DVector::from_column_slice(x);
        let raw = (&self.rows * &x).norm_squared() / self.rows.nrows() as f64;
        Ok(raw - self.weight * self.weight * x.norm_squared())
    }

    /// The additive error tau for a direction of length one: with probability at least 1 - nu the error is at most eta
    /// times the variance, plus tau.
    #[must_use]
    pub fn tau(&self) -> f64 {
        self.eta * self.weight * self.weight
    }
}
