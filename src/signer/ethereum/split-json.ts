/** Finds the JSON texts in a stream in which nothing separates them, as Ethereum's nodes frame calls on a socket. */
export interface JsonSplitter {
  /** Returns the texts that end in this chunk. Throws if the stream has something else, or a text is too large. */
  push(chunk: Uint8Array): Buffer[];
}

/** Creates a splitter of objects and arrays. It only finds their ends: a parser judges what is inside. */
export function createJsonSplitter(maxBytes: number): JsonSplitter {
  /** The chunks of an unfinished text. */
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  let depth = 0;
  let isInString = false;
  let isEscaped = false;

  function step(octet: number): void {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (octet === BACKSLASH) isEscaped = true;
      else if (octet === QUOTE) isInString = false;
    } else if (octet === QUOTE) isInString = true;
    else if (octet === OPEN_BRACE || octet === OPEN_BRACKET) depth++;
    else if (octet === CLOSE_BRACE || octet === CLOSE_BRACKET) depth--;
  }

  return {
    push(chunk) {
      const texts: Buffer[] = [];
      let start = 0;
      for (const [at, octet] of chunk.entries()) {
        if (depth === 0) {
          start = at;
          if (SPACES.has(octet)) continue;
          if (octet !== OPEN_BRACE && octet !== OPEN_BRACKET)
            throw new Error("a call is a JSON object or array");
        }
        step(octet);
        if (begunBytes + at - start >= maxBytes) throw new Error(`a call has more than ${maxBytes} bytes`);
        if (depth > 0) continue;
        texts.push(Buffer.concat([...begun, chunk.subarray(start, at + 1)]));
        begun = [];
        begunBytes = 0;
      }
      if (depth > 0) {
        begun.push(Uint8Array.from(chunk.subarray(start)));
        begunBytes += chunk.length - start;
      }
      return texts;
    },
  };
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
