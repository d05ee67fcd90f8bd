import { OBJECT_ID } from "../../protocol/chain/object-id.ts";
import type { Secret } from "../platform/telemetry/secret.ts";
import { isPublic } from "./checks.ts";
import { FULLNODE_URL, NETWORK_NAMES, type NetworkName } from "./network.ts";
import { ConfigReader } from "./reader.ts";
import { readSignerStore, type SignerStoreConfig } from "./signer-store.ts";
import { ConfigError } from "./variables/config-variable.ts";
import { SIGNER_VARIABLES } from "./variables/signer-variables.ts";

/** Reads the settings of a signer. Throws a ConfigError that names every fault. */
export function readSignerConfig(environment: NodeJS.ProcessEnv): SignerConfig {
  const read = new ConfigReader<Name>(environment, SIGNER_VARIABLES);
  const socketPath = read.text("SIGNER_SOCKET");
  const config: SignerConfig = {
    ...readSignerStore(read),
    accessFile: read.optional("SIGNER_ACCESS_FILE"),
    socketPath: socketPath === "off" ? undefined : socketPath,
    port: readPort(read),
    service: readService(read),
    fullnodeUrls: read.isSet("SIGNER_FULLNODE_URLS")
      ? read.requiredSecretUrls(
          "SIGNER_FULLNODE_URLS",
          FULLNODE_URL,
          "http(s) or grpc(s) URLs, comma-separated",
        )
      : undefined,
    treasuryId: read.isSet("SIGNER_TREASURY_ID")
      ? read.required("SIGNER_TREASURY_ID", OBJECT_ID, "0x and 64 hex digits")
      : undefined,
    ethereum: readEthereum(read),
    exitDrillHours: read.integer("SIGNER_EXIT_DRILL_HOURS", 0, 8_760),
    isExitDrillReported: read.boolean("SIGNER_EXIT_DRILL_REPORT"),
    logLevel: read.oneOf("LOG_LEVEL", ["trace", "debug", "info", "warn", "error", "silent"]),
  };
  if (config.socketPath === undefined && config.port === undefined)
    read.fault("SIGNER_PORT", undefined, "a port, with SIGNER_SOCKET=off");
  if (read.faults.length > 0) throw new ConfigError(read.faults);
  return config;
}

type Name = (typeof SIGNER_VARIABLES)[number]["name"];

/** The settings of a signer. Its secrets are in files, which the command reads. */
export interface SignerConfig extends SignerStoreConfig {
  /** Undefined if every caller may use every key. */
  readonly accessFile: string | undefined;
  /** Undefined for no socket. */
  readonly socketPath: string | undefined;
  /** Undefined for no port. */
  readonly port:
    | {
        readonly host: string;
        readonly port: number;
        /** Undefined with a file of callers. */
        readonly tokenFile: string | undefined;
        readonly tls:
          | {
              readonly certificateFile: string;
              readonly keyFile: string;
              /** Undefined if callers need no certificate. */
              readonly clientCaFile: string | undefined;
            }
          | undefined;
      }
    | undefined;
  /** Undefined for the quick start. */
  readonly service:
    | { readonly url: string; readonly apiKeyFile: string; readonly network: NetworkName }
    | undefined;
  /** Secrets, because a provider's URL may contain a key. */
  readonly fullnodeUrls: readonly Secret[] | undefined;
  readonly treasuryId: string | undefined;
  /** Undefined for no JSON-RPC. */
  readonly ethereum:
    | {
        readonly chainId: number;
        readonly url: Secret | undefined;
        readonly maxFeeWei: bigint;
        /** A socket for JSON-RPC without HTTP. Undefined for none. */
        readonly socketPath: string | undefined;
      }
    | undefined;
  /** 0 for no rehearsals of exits. */
  readonly exitDrillHours: number;
  readonly isExitDrillReported: boolean;
  readonly logLevel: string;
}

function readPort(read: ConfigReader<Name>): SignerConfig["port"] {
  if (!read.isSet("SIGNER_PORT")) return undefined;
  const host = read.text("SIGNER_HOST");
  const certificateFile = read.file("SIGNER_TLS_CERT_FILE");
  const keyFile = read.file("SIGNER_TLS_KEY_FILE");
  const clientCaFile = read.file("SIGNER_TLS_CLIENT_CA_FILE");
  const tls = certificateFile && keyFile ? { certificateFile, keyFile, clientCaFile } : undefined;
  if (clientCaFile && tls === undefined)
    read.fault("SIGNER_TLS_CERT_FILE", undefined, "a file, with SIGNER_TLS_CLIENT_CA_FILE");
  if (certificateFile && !keyFile)
    read.fault("SIGNER_TLS_KEY_FILE", undefined, "a file, with the certificate");
  if (keyFile && !certificateFile) read.fault("SIGNER_TLS_CERT_FILE", undefined, "a file, with the key");
  if (isPublic(host) && tls === undefined)
    read.fault("SIGNER_HOST", host, "a loopback address, or SIGNER_TLS_CERT_FILE and SIGNER_TLS_KEY_FILE");
  const tokenFile = readTokenFile(read);
  return { host, port: read.integer("SIGNER_PORT", 0, 65_535), tokenFile, tls };
}

/** The file of callers has their tokens, so one for all of them would be another way in. */
function readTokenFile(read: ConfigReader<Name>): string | undefined {
  if (!read.isSet("SIGNER_ACCESS_FILE"))
    return read.required("SIGNER_TOKEN_FILE", /./, "a file with a token, with SIGNER_PORT");
  if (read.isSet("SIGNER_TOKEN_FILE"))
    read.fault("SIGNER_TOKEN_FILE", undefined, "no file, with SIGNER_ACCESS_FILE, which names the tokens");
  return undefined;
}

function readService(read: ConfigReader<Name>): SignerConfig["service"] {
  const url = read.url("SIGNER_SERVICE_URL");
  if (url === undefined) return undefined;
  const isClear = /^http:/i.test(url) && URL.canParse(url) && isPublic(new URL(url).hostname);
  if (isClear) read.fault("SIGNER_SERVICE_URL", undefined, "an https URL, because the API key travels to it");
  const apiKeyFile = read.required(
    "SIGNER_API_KEY_FILE",
    /./,
    "a file with the API key, with SIGNER_SERVICE_URL",
  );
  return { url, apiKeyFile, network: read.oneOf("SIGNER_NETWORK", NETWORK_NAMES) };
}

function readEthereum(read: ConfigReader<Name>): SignerConfig["ethereum"] {
  const url = read.secretUrl("SIGNER_ETHEREUM_URL", /^https?:\/\//, "an http(s) URL");
  const socketPath = read.optional("SIGNER_ETHEREUM_SOCKET");
  if (url === undefined && socketPath === undefined && !read.isSet("SIGNER_ETHEREUM_CHAIN_ID"))
    return undefined;
  const chainId = read.integer("SIGNER_ETHEREUM_CHAIN_ID", 1, Number.MAX_SAFE_INTEGER);
  const maxFee = read.required("SIGNER_ETHEREUM_MAX_FEE_WEI", /^\d{1,30}$/, "a whole number of wei");
  return { chainId, url, maxFeeWei: BigInt(maxFee), socketPath };
}
