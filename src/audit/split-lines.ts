/**
 * Splits a stream of bytes into lines with their line feeds; the last one may lack it. Throws if a line is longer than
 * 1 MiB.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let start = 0;
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      yield bytes.subarray(start, end + 1);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > LINE_MAX_BYTES)
      throw new Error("a line is longer than 1 MiB: this is not an audit export");
  }
  if (rest.length > 0) yield rest;
}

/** The maximum length of a line of an export. The contract bounds its texts. */
const LINE_MAX_BYTES = 1_048_576;
const LINE_FEED = 0x0a;
