"""The description of the service for people: one page that loads nothing from anywhere."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any, Final

HEADERS: Final = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{background:#8881;padding:.6rem;overflow:auto}"
    "h2{font-size:1.05rem;margin-top:2rem}td{padding:0 1rem 0 0;vertical-align:top}"
)


def reference_page(openapi: Mapping[str, Any]) -> str:
    """HTML of what an OpenAPI description says."""
    info = openapi["info"]
    parts = [f"<h1>{_text(info['title'])} {_text(info['version'])}</h1>", f"<p>{_text(info['description'])}</p>"]
    parts.append('<p>For programs: <a href="/openapi.json">/openapi.json</a></p>')
    for path, operations in openapi["paths"].items():
        for verb, operation in operations.items():
            parts.append(_operation(verb.upper(), path, operation))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>rankforce</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )


def _operation(verb: str, path: str, operation: Mapping[str, Any]) -> str:
    parts = [f"<h2><code>{verb} {_text(path)}</code></h2><p>{_text(operation.get('description', ''))}</p>"]
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Body: <code>{_text(media_type)}</code></p>")
        for form in content["schema"].get("oneOf", ()):
            parts.append(f"<pre>{_text(json.dumps(form['example']))}</pre>")
    rows = [
        f"<tr><td><code>{_text(status)}</code></td><td>{_text(answer['description'])}</td></tr>"
        for status, answer in operation.get("responses", {}).items()
    ]
    return "".join([*parts, "<table>", *rows, "</table>"])


def _text(value: Any) -> str:
    return html.escape(str(value))
