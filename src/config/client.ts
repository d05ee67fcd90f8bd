import type { Secret } from "../telemetry/secret.ts";
import { ConfigError, ConfigReader } from "./reader.ts";
import { CONFIG_VARIABLES } from "./variables.ts";

/** Reads what the command needs to call a service. Throws a ConfigError naming every fault. */
export function readClientConfig(environment: NodeJS.ProcessEnv): ClientConfig {
  const read = new ConfigReader(environment, CONFIG_VARIABLES);
  const config = {
    url: read.url("TSS_URL"),
    adminKey: read.secret("TSS_ADMIN_KEY", KEY, KEY_FORM) ?? read.secret("ADMIN_API_KEY", KEY, KEY_FORM),
    apiKey: read.secret("TSS_API_KEY", KEY, KEY_FORM),
    dataDirectory: read.text("DATA_DIR"),
    localnetUrl: read.url("LOCALNET_URL"),
    isDatabaseEmbedded: !["DATABASE_URL", "DATABASE_URL_FILE"].some((name) => environment[name]?.trim()),
  };
  if (read.faults.length > 0) throw new ConfigError(read.faults);
  return config;
}

/** Where the command finds a running service, and as whom it calls there. */
export interface ClientConfig {
  /** Undefined: commands work on the database. */
  readonly url: string | undefined;
  /** Of an operator. On the service's own machine its `ADMIN_API_KEY` will do. */
  readonly adminKey: Secret | undefined;
  /** Of a project. */
  readonly apiKey: Secret | undefined;
  readonly dataDirectory: string;
  /** A separate local network. */
  readonly localnetUrl: string | undefined;
  /** Whether the service that the rest of the environment describes has its database in the data folder. */
  readonly isDatabaseEmbedded: boolean;
}

const KEY = /^[!-~]+$/;
const KEY_FORM = "a key, in visible ASCII characters";
