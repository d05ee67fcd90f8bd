import { DEPOSIT_VARIABLES, PRICE_VARIABLES } from "./config-billing.ts";
import { DATABASE_VARIABLES } from "./config-database.ts";
import { NETWORK_VARIABLES } from "./config-network.ts";
import type { ConfigVariable } from "./config-reader.ts";
import { SWEEP_VARIABLES } from "./config-sweeps.ts";

/** Every variable the service reads. Printed by `tss config`, mirrored by `.env.example`. */
export const CONFIG_VARIABLES = [
  { name: "HOST", default: "127.0.0.1", description: "Address to listen on" },
  {
    name: "PORT",
    default: "3000",
    description: "Port of gRPC, Connect, gRPC-web and REST; 0 takes a free one",
  },
  {
    name: "METRICS_PORT",
    description: "A port of its own for GET /metrics; 0 takes a free one",
  },
  {
    name: "METRICS_PUBLIC",
    default: "false",
    description: "Whether PORT serves GET /metrics to anyone where METRICS_PORT is unset: true or false",
  },
  {
    name: "PROCESS_TYPE",
    default: "all",
    description:
      "What this process does: api serves calls, worker acts on the chain, all does both; api and worker need DATABASE_URL, and LOCALNET_URL on the localnet",
  },
  {
    name: "DATA_DIR",
    default: ".data",
    description: "Folder of the embedded database, the localnet and caches",
  },
  {
    name: "DATABASE_URL",
    description: "PostgreSQL; unset: PGlite in DATA_DIR, one process only",
    secret: true,
  },
  ...DATABASE_VARIABLES,
  {
    name: "REDIS_URL",
    description: "Redis for wake-ups, rate limits and revoked keys across replicas; unset: in-process",
    secret: true,
  },
  { name: "ADMIN_API_KEY", description: "Key of the Admin calls, 32 characters or more", secret: true },
  {
    name: "AUDIT_SEAL_SECRET_HEX",
    description:
      "Ed25519 secret that signs the audit trail's seals, 64 hex digits; unset: they are not signed",
    secret: true,
  },
  ...NETWORK_VARIABLES,
  { name: "HOT_WALLET_PROVIDER", default: "env", description: "Where the hot wallet's key comes from: env" },
  {
    name: "HOT_WALLET_SUI_SECRET_HEX",
    description:
      "The hot wallet's Ed25519 secret, 64 hex digits; unset on the localnet: its public development key",
    secret: true,
  },
  {
    name: "GAS_STATION_LOCALNET_SECRET_HEX",
    description: "Ed25519 secret of a key that pays for gas, 64 hex digits; unset: the hot wallet pays",
    secret: true,
  },
  { name: "GAS_STATION_TESTNET_SECRET_HEX", description: "The same on testnet", secret: true },
  { name: "GAS_STATION_MAINNET_SECRET_HEX", description: "The same on mainnet", secret: true },
  ...PRICE_VARIABLES,
  ...DEPOSIT_VARIABLES,
  ...SWEEP_VARIABLES,
  {
    name: "PRESIGN_BUCKETS",
    default: "",
    description:
      "Presign buckets to keep warm, like SECP256K1/Taproot,ED25519/EdDSA; empty: warmed on first use",
  },
  {
    name: "PRESIGN_POOL_LOW_WATER",
    description: "Refill below this many presigns; 20, or 2 on the localnet",
  },
  {
    name: "PRESIGN_POOL_HIGH_WATER",
    default: "100",
    description: "Never hold more presigns than this in a bucket",
  },
  { name: "PRESIGN_BATCH_SIZE", default: "20", description: "Presigns in one transaction, 1 to 32" },
  { name: "PRESIGN_RESERVATION_TTL_SECONDS", default: "300", description: "How long a reservation holds" },
  {
    name: "MAX_OPEN_RESERVATIONS_PER_PROJECT",
    default: "50",
    description:
      "Reservations that one project may have open; one less for each that expired lately, down to a tenth",
  },
  {
    name: "MAX_DKGS_PER_PROJECT_PER_DAY",
    default: "200",
    description: "dWallets, and encryption keys, that one project may create in 24 hours",
  },
  {
    name: "MAX_REFUNDS_PER_PROJECT_PER_DAY",
    default: "20",
    description:
      "ECDSA signatures and dWallets, together, refunded to one project on one day (UTC) after the network rejected the user's part",
  },
  {
    name: "MAX_WRONG_HALVES_PER_PROJECT_PER_MINUTE",
    default: "60",
    description: "Users' halves of one project that may turn out to be wrong; beyond it none is verified",
  },
  {
    name: "FULLNODE_CALLER_READS_PER_SECOND",
    default: "100",
    description:
      "Reads of the fullnode that calls of all projects may cause; the rest of its limit is the service's",
  },
  {
    name: "FULLNODE_PROJECT_READS_PER_SECOND",
    default: "20",
    description: "Reads of the fullnode that calls of one project may cause",
  },
  {
    name: "VERIFY_THREADS",
    default: "2",
    description:
      "Threads that verify halves and signatures, 1 to 64; each takes about 30 MB once it is needed",
  },
  { name: "SUBMIT_BATCH_SIZE", default: "10", description: "Signs in one transaction, 1 to 50" },
  {
    name: "RATE_LIMIT_READ_PER_SECOND",
    default: "1000",
    description:
      "Calls of the cost class READ per second and key, or address where no key is asked for; 0: no limit",
  },
  { name: "RATE_LIMIT_WRITE_PER_SECOND", default: "300", description: "The same for the cost class WRITE" },
  { name: "RATE_LIMIT_CHAIN_PER_SECOND", default: "300", description: "The same for the cost class CHAIN" },
  {
    name: "RATE_LIMIT_VERIFY_PER_SECOND",
    default: "100",
    description: "The same for the cost class VERIFY: users' halves",
  },
  {
    name: "RATE_LIMIT_STREAM_PER_SECOND",
    default: "100",
    description: "Streams opened per second, likewise",
  },
  {
    name: "RATE_LIMIT_REFUSED_KEY_PER_SECOND",
    default: "10",
    description: "Calls with a missing or wrong key per second and address; 0: no limit",
  },
  {
    name: "RATE_LIMIT_OPEN_PER_SECOND",
    default: "20",
    description:
      "Calls of gRPC's health and reflection, and of GET /openapi.json, per second and address; 0: no limit",
  },
  {
    name: "MAX_STREAMS_PER_KEY",
    default: "1000",
    description: "Streams, such as watches, that one key may have open in one process",
  },
  { name: "MAX_STREAMS_PER_PROJECT", default: "2000", description: "The same of one project" },
  {
    name: "MAX_STREAMS_PER_ADDRESS",
    default: "100",
    description: "The same of calls without a key from one address",
  },
  {
    name: "RATE_LIMIT_BURST_SECONDS",
    default: "10",
    description: "How many seconds' worth of calls may come at once, 1 to 3600",
  },
  {
    name: "MAX_CONNECTIONS",
    default: "10000",
    description: "Connections that a port has open at a time; further ones are closed; 0: no bound",
  },
  {
    name: "MAX_CONNECTIONS_PER_ADDRESS",
    default: "256",
    description:
      "Those of one address, or one IPv6 network of 64 bits, unless it is in TRUSTED_PROXIES; 0: no bound",
  },
  {
    name: "TRUSTED_PROXIES",
    default: "",
    description:
      "Addresses or CIDR blocks of proxies whose x-forwarded-for or forwarded is believed, comma-separated",
  },
  { name: "LOG_LEVEL", default: "info", description: "trace, debug, info, warn, error or silent" },
  { name: "DRAIN_DELAY_MS", default: "0", description: "How long to answer as not ready before closing" },
  {
    name: "DRAIN_TIMEOUT_MS",
    default: "10000",
    description: "How long calls in flight may take when stopping",
  },
  {
    name: "TLS_CERT_FILE",
    description: "Certificate chain, PEM; set with TLS_KEY_FILE: the port speaks TLS only",
  },
  { name: "TLS_KEY_FILE", description: "The certificate's private key, PEM" },
  {
    name: "ALLOW_PUBLIC_PLAINTEXT",
    default: "false",
    description:
      "Whether HOST may be reachable from elsewhere without TLS, because TLS ends in front: true or false",
  },
  {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    description:
      "Base URL of an OTLP/HTTP receiver for traces; unset: no traces, and nothing of them is loaded",
    secret: true,
  },
  {
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    description: "Headers for that receiver, as name=value,name=value, values percent-encoded",
    secret: true,
  },
  {
    name: "OTEL_SERVICE_NAME",
    default: "threshold-signing-service",
    description: "The service's name in traces",
  },
  {
    name: "OTEL_TRACES_SAMPLER",
    default: "parentbased_traceidratio",
    description:
      "Which traces are recorded: always_on, always_off, traceidratio, or one of them after parentbased_",
  },
  {
    name: "OTEL_TRACES_SAMPLER_ARG",
    default: "1",
    description: "The share of traces that traceidratio records, 0 to 1",
  },
  { name: "TSS_URL", description: "For the command tss: the service to call; unset: the database itself" },
  {
    name: "TSS_ADMIN_KEY",
    description: "For the command tss: an operator's key; unset: ADMIN_API_KEY",
    secret: true,
  },
  { name: "TSS_API_KEY", description: "For the command tss: a project's key", secret: true },
  { name: "CORS_ORIGINS", default: "*", description: "Origins that browsers may call from, comma-separated" },
] as const satisfies readonly ConfigVariable[];

/** The name of a variable of the table. */
export type VariableName = (typeof CONFIG_VARIABLES)[number]["name"];
