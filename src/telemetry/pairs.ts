/** `key=value,key=value`, values percent-encoded: the form of OTEL_RESOURCE_ATTRIBUTES and OTEL_EXPORTER_OTLP_HEADERS. */
export function pairs(text: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const key = pair.slice(0, at).trim();
    if (at > 0 && key !== '') found[key] = decoded(pair.slice(at + 1).trim());
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % that was meant as it stands
  }
}
