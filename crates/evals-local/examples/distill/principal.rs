//! Principal components of the vectors.

use crate::encoder::Vectors;

/// Sweeps over all pairs of axes after which the eigenvectors are taken as found; about ten are enough for some hundred dimensions.
const MOST_SWEEPS: usize = 30;

/// Centres the vectors and turns them onto their first `dimension` principal components, the one of the largest variance first.
pub(crate) fn project(vectors: &Vectors, dimension: usize) -> Vectors {
    let mean = mean(vectors);
    let centred = |vector: &[f64]| -> Vec<f64> {
        vector
            .iter()
            .zip(&mean)
            .map(|(value, mean)| value - mean)
            .collect()
    };
    let mut covariance = vec![vec![0.0; mean.len()]; mean.len()];
    for vector in vectors {
        add_outer_product(&mut covariance, &centred(vector));
    }
    let axes = eigenvectors(covariance);
    let along = |vector: &[f64], axis: &[f64]| {
        vector
            .iter()
            .zip(axis)
            .map(|(value, part)| value * part)
            .sum()
    };
    let turn = |vector: &Vec<f64>| {
        let vector = centred(vector);
        axes.iter()
            .take(dimension)
            .map(|axis| along(&vector, axis))
            .collect()
    };
    vectors.iter().map(turn).collect()
}

fn mean(vectors: &Vectors) -> Vec<f64> {
    let mut sums = vec![0.0; vectors.first().map_or(0, Vec::len)];
    let mut count = 0.0;
    for vector in vectors {
        count += 1.0;
        sums.iter_mut()
            .zip(vector)
            .for_each(|(sum, value)| *sum += value);
    }
    sums.iter().map(|sum| sum / count).collect()
}

fn add_outer_product(matrix: &mut [Vec<f64>], vector: &[f64]) {
    for (row, factor) in matrix.iter_mut().zip(vector) {
        row.iter_mut()
            .zip(vector)
            .for_each(|(cell, value)| *cell += factor * value);
    }
}

/// Eigenvectors of a symmetric matrix by cyclic Jacobi rotations, largest eigenvalue first, each with its largest part positive.
///
/// Slower than a tridiagonal method and simpler: it gives the same result wherever it runs.
fn eigenvectors(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let mut vectors: Vec<Vec<f64>> = (0..size)
        .map(|row| (0..size).map(|column| f64::from(row == column)).collect())
        .collect();
    let negligible = 1e-24 * squares(&matrix, |_, _| true);
    for _ in 0..MOST_SWEEPS {
        if squares(&matrix, |row, column| row != column) <= negligible {
            break;
        }
        for (first, second) in
            (0..size).flat_map(|first| (first + 1..size).map(move |second| (first, second)))
        {
            rotate(&mut matrix, &mut vectors, first, second);
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&a, &b| matrix[b][b].total_cmp(&matrix[a][a]));
    order
        .into_iter()
        .map(|index| with_sign(&vectors[index]))
        .collect()
}

/// Makes the cell of two axes zero (Golub and Van Loan, "Matrix Computations", 8.5). `vectors` holds the axes as rows.
fn rotate(matrix: &mut [Vec<f64>], vectors: &mut [Vec<f64>], first: usize, second: usize) {
    let shared = matrix[first][second];
    if shared == 0.0 {
        return;
    }
    let slope = (matrix[second][second] - matrix[first][first]) / (2.0 * shared);
    let tangent = slope.signum() / (slope.abs() + slope.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for row in matrix.iter_mut() {
        (row[first], row[second]) = (
            cosine * row[first] - sine * row[second],
            sine * row[first] + cosine * row[second],
        );
    }
    for rows in [matrix, vectors] {
        let (before, from_second) = rows.split_at_mut(second);
        for (a, b) in before[first].iter_mut().zip(&mut from_second[0]) {
            (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
        }
    }
}

fn squares(matrix: &[Vec<f64>], counts: impl Fn(usize, usize) -> bool) -> f64 {
    let cells = matrix.iter().enumerate().flat_map(|(row, cells)| {
        cells
            .iter()
            .enumerate()
            .map(move |(column, cell)| (row, column, cell))
    });
    cells
        .filter(|&(row, column, _)| counts(row, column))
        .map(|(_, _, cell)| cell * cell)
        .sum()
}

/// An eigenvector's sign is arbitrary; this one makes it reproducible.
fn with_sign(vector: &[f64]) -> Vec<f64> {
    let largest = vector
        .iter()
        .copied()
        .max_by(|a, b| a.abs().total_cmp(&b.abs()))
        .unwrap_or(1.0);
    vector
        .iter()
        .map(|value| value * largest.signum())
        .collect()
}
