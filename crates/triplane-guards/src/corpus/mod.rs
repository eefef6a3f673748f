//! Labelled inputs, and how the guards answer them.
//!
//! A corpus is a file of JSON lines, one row each: a command, or an operation on a path, with the
//! verdict that a careful policy gives it. A command is only judged, never run. A path is tried for
//! real, in a folder of its own: the row's files are built ([`World`]), the guard is asked, what the
//! row says happens in between is done, and the operation is performed through the folder that the
//! guard holds open. What it reached is looked at afterwards.
//!
//! A corpus may come from anybody: a row that would build or change something outside its folder is
//! refused.

mod row;
mod call;
mod world;
mod trial;
mod score;

pub use call::{path_call, shell_call};
pub use row::{Label, PathRow, Row, RowRefused, Step, Subject};
pub use score::Score;
pub use trial::{Answer, PATH_CHANGED, Tried, try_command, try_path};
pub use world::{World, WorldRefused};
