//! The escapes of `$'…'`.

pub(crate) type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Decodes the escapes of `$'…'`; `None` when the result is not text.
pub(crate) fn ansi_c(text: &str) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let Some(escape) = chars.next() else {
            bytes.push(b'\\');
            break;
        };
        match escape {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '\\' | '\'' | '"' | '?' => bytes.push(u8::try_from(escape).ok()?),
            'c' => {
                let control = chars.next()?;
                bytes.push(u8::try_from(u32::from(control) & 0x1f).ok()?);
            }
            'x' => match digits(&mut chars, 16, 2) {
                Some(value) => bytes.push(u8::try_from(value & 0xff).ok()?),
                None => bytes.extend_from_slice(b"\\x"),
            },
            'u' | 'U' => {
                let most = if escape == 'u' { 4 } else { 8 };
                match digits(&mut chars, 16, most) {
                    Some(value) => {
                        let c = char::from_u32(value)?;
                        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    None => bytes.extend_from_slice(&[b'\\', u8::try_from(escape).ok()?]),
                }
            }
            '0'..='7' => {
                let first = escape.to_digit(8)?;
                let rest = octal_rest(&mut chars, first);
                bytes.push(u8::try_from(rest & 0xff).ok()?);
            }
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    // The shell ends the text at a NUL.
    if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
        bytes.truncate(end);
    }
    String::from_utf8(bytes).ok()
}

pub(crate) fn digits(chars: &mut Chars<'_>, radix: u32, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        chars.next();
        value = Some(value.unwrap_or(0) * radix + digit);
    }
    value
}

pub(crate) fn octal_rest(chars: &mut Chars<'_>, first: u32) -> u32 {
    let mut value = first;
    for _ in 0..2 {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else {
            break;
        };
        chars.next();
        value = value * 8 + digit;
    }
    value
}
