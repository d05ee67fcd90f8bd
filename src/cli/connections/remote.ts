import { createConnectTransport } from "@connectrpc/connect-web";
import { withHeaders } from "../../client/sdk/calls/transport.ts";
import type { ClientConfig } from "../../service/config/client.ts";
import { UsageError } from "../command-line/command.ts";
import type { CallerKind, Connection, Target } from "./connection.ts";
import { readDevelopmentFile } from "./development-file.ts";

/** Calls a running service with the key from the environment. Throws if there is none. */
export async function connectRemote(
  url: string,
  { caller, network }: Target,
  config: ClientConfig,
): Promise<Connection> {
  const baseUrl = checkUrl(url);
  const key = await findKey(baseUrl, caller, config);
  const transport = createConnectTransport({ baseUrl, useBinaryFormat: true, defaultTimeoutMs: TIMEOUT_MS });
  return {
    transport: withHeaders(transport, {
      authorization: `Bearer ${key}`,
      ...(network !== undefined && { "x-network": network }),
    }),
    explain: (error) => error,
    close: async () => {},
  };
}

/** Leaves time for a call that waits for the fullnode. */
const TIMEOUT_MS = 30_000;

/** Returns the service's URL without a slash at its end. Throws a UsageError if it is none, or has credentials. */
export function checkUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    throw new UsageError("the service's URL must begin with http:// or https://");
  if (parsed.username !== "" || parsed.password !== "")
    throw new UsageError(
      "the service's URL must not contain a user or a password; set keys in the environment",
    );
  return url.replace(/\/+$/, "");
}

/** Returns the key from the environment. Development keys are sent only to the service that made them. */
export async function findKey(baseUrl: string, caller: CallerKind, config: ClientConfig): Promise<string> {
  const isOperator = caller === "operator";
  const configured = isOperator ? config.adminKey : config.apiKey;
  if (configured !== undefined) return configured.reveal();
  const development = await readDevelopmentFile(config.dataDirectory);
  if (development !== undefined && new URL(development.baseUrl).origin === new URL(baseUrl).origin)
    return isOperator ? development.adminApiKey : development.apiKey;
  throw new Error(
    `no key: set ${isOperator ? "TSS_ADMIN_KEY" : "TSS_API_KEY"}, or the same variable with _FILE to the path of a file with the key`,
  );
}
