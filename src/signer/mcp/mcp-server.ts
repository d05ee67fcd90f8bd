import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { McpTools } from "./mcp-tools.ts";

/** Connects the tools to one transport of the Model Context Protocol. */
export async function connectMcp(tools: McpTools, version: string, transport: Transport): Promise<McpServer> {
  const instructions =
    "Reads the keys of a threshold signer, explains payloads, and has allowed ones signed. Explain a payload to the " +
    "user before you request its signature.";
  const mcp = new McpServer({ name: "tss-signer", version }, { capabilities: { tools: {} }, instructions });
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.list.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema } })),
  }));
  mcp.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { isError, value } = await tools.call(params.name, params.arguments ?? {}, signal);
    return { isError, content: [{ type: "text" as const, text: JSON.stringify(value, undefined, 1) }] };
  });
  await mcp.connect(transport);
  return mcp;
}
