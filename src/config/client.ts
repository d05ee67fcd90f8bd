import type { Secret } from "../telemetry/secret.ts";
import { ConfigError } from "./config-error.ts";
import { ConfigReader } from "./reader.ts";
import { CONFIG_VARIABLES } from "./variables.ts";

/** Reads the settings that the command needs to call a service. Throws a ConfigError that names every fault. */
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

/** The address of a running service, and the command's keys. */
export interface ClientConfig {
  /** Undefined if commands work on the database. */
  readonly url: string | undefined;
  /** An operator's key. Default: `ADMIN_API_KEY`, as on the service's own machine. */
  readonly adminKey: Secret | undefined;
  readonly apiKey: Secret | undefined;
  readonly dataDirectory: string;
  /** The URL of a separate localnet. */
  readonly localnetUrl: string | undefined;
  /** True if the environment configures the embedded database in the data folder. */
  readonly isDatabaseEmbedded: boolean;
}

const KEY = /^[!-~]+$/;
const KEY_FORM = "a key, in visible ASCII characters";
