//! Deletions of every pattern, decided on paper and played on a cloud in memory.

mod given;
mod scene;
mod shared;
mod story;
