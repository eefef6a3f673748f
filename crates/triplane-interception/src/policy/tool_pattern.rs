//! Which tools a rule speaks about.

/// The name of a tool, or a pattern with `*` for any run of characters.
///
/// Harnesses spell one tool in several ways, so the case of ASCII letters does not count.
///
/// ```
/// use triplane_interception::ToolPattern;
///
/// let files = ToolPattern::new("mcp__*__write");
/// assert!(files.matches("MCP__files__write") && !files.matches("mcp__files__read"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPattern {
    parts: Vec<String>,
}

impl ToolPattern {
    /// A pattern, as a policy writes it.
    pub fn new(pattern: &str) -> Self {
        Self {
            parts: pattern.split('*').map(str::to_ascii_lowercase).collect(),
        }
    }

    /// Whether the pattern speaks about the tool of this name.
    pub fn matches(&self, tool: &str) -> bool {
        let tool = tool.to_ascii_lowercase();
        let [first, rest @ ..] = &*self.parts else {
            return false;
        };
        let [middle @ .., last] = rest else {
            return tool == *first;
        };
        let Some(mut open) = tool.strip_prefix(first.as_str()) else {
            return false;
        };
        for part in middle {
            match open.find(part.as_str()) {
                Some(at) => open = &open[at + part.len()..],
                None => return false,
            }
        }
        open.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let pattern = ToolPattern::new(pattern);
        for tool in yes {
            assert!(pattern.matches(tool), "{pattern:?} should match {tool}");
        }
        for tool in no {
            assert!(
                !pattern.matches(tool),
                "{pattern:?} should not match {tool}"
            );
        }
    }

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        check("Bash", &["Bash", "bash"], &["Bash2", "BashOutput", ""]);
        check("*", &["", "Read"], &[]);
        check(
            "mcp__*",
            &["mcp__files__read", "mcp__"],
            &["mcp", "xmcp__a"],
        );
        check(
            "mcp__*__read",
            &["mcp__a__read"],
            &["mcp__read", "mcp__a__reader"],
        );
        check("*shell*", &["my_shell", "Shell", "shell_x"], &["bash"]);
        check("a*a", &["aa", "aba"], &["a"]);
    }
}
