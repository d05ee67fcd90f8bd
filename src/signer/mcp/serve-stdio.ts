import type { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { connectMcp } from "./mcp-server.ts";
import type { McpTools } from "./mcp-tools.ts";

/**
 * Serves one agent over standard input and output, for a host that starts this process. Resolves when the host closes
 * the input, or `signal` fires.
 */
export async function serveStdio(
  tools: McpTools,
  version: string,
  { input, output, signal }: StdioOptions,
): Promise<void> {
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES });
  const mcp = await connectMcp(tools, version, transport);
  await new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) input.once(event, () => resolve());
    output.once("error", () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
    mcp.server.onclose = resolve;
  });
  await mcp.close();
}

/** Where the messages come from and go to. */
interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** The longest message of the host. */
const MAX_MESSAGE_BYTES = 512 * 1024;
