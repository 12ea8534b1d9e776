//! A minimal HTTP/1.1 server for the harnesses: one request per connection, with a complete or a streamed answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The names, in lower case, and the values.
    headers: Vec<(String, String)>,
    /// The body as JSON, or null if the body is not JSON.
    pub body: Value,
}

impl Request {
    pub fn read(stream: &TcpStream) -> io::Result<Request> {
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let mut reader = BufReader::new(stream);
        let first = read_line(&mut reader)?;
        let mut words = first.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let text = read_line(&mut reader)?;
            if text.is_empty() {
                break;
            }
            if let Some((name, value)) = text.split_once(':') {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        let mut request = Request { method, path, headers, body: Value::Null };
        let length = request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        request.body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(request)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut text = String::new();
    reader.read_line(&mut text)?;
    Ok(text.trim_end().to_owned())
}

pub fn send_answer(mut stream: &TcpStream, status: &str, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// One piece of a streamed answer. In OpenAI's format, pieces have no name.
#[derive(Debug)]
pub struct StreamPiece {
    pub name: Option<&'static str>,
    pub data: String,
}

/// Sends a stream of server-sent events, which ends when the connection is closed.
pub fn send_stream(mut stream: &TcpStream, pieces: &[StreamPiece]) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n",
    )?;
    for StreamPiece { name, data } in pieces {
        if let Some(name) = name {
            writeln!(stream, "event: {name}")?;
        }
        write!(stream, "data: {data}\n\n")?;
    }
    stream.flush()
}
