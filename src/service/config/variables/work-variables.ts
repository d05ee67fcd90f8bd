import type { ConfigVariable } from "./config-variable.ts";

/** The variables of presigns, limits per project and work on the chain, a part of the table of all variables. */
export const WORK_VARIABLES = [
  {
    name: "PRESIGN_BUCKETS",
    default: "",
    description:
      "Presign buckets to keep warm, like SECP256K1/Taproot,ED25519/EdDSA; empty: warmed on first use",
    perNetwork: "override",
  },
  {
    name: "PRESIGN_POOL_LOW_WATER",
    description: "Refill below this many presigns; 20, or 2 on the localnet",
    perNetwork: "override",
  },
  {
    name: "PRESIGN_POOL_HIGH_WATER",
    default: "100",
    description: "Never hold more presigns than this in a bucket",
    perNetwork: "override",
  },
  {
    name: "PRESIGN_BATCH_SIZE",
    default: "20",
    description: "Presigns in one transaction, 1 to 32",
    perNetwork: "override",
  },
  {
    name: "PRESIGN_RESERVATION_TTL_SECONDS",
    default: "300",
    description: "Lifetime of a reservation",
    perNetwork: "override",
  },
  {
    name: "MAX_OPEN_RESERVATIONS_PER_PROJECT",
    default: "50",
    description:
      "Open reservations that one project may have; one less for each recently expired one, down to a tenth",
    perNetwork: "override",
  },
  {
    name: "MAX_DKGS_PER_PROJECT_PER_DAY",
    default: "200",
    description: "dWallets, and encryption keys, that one project may create in 24 hours",
    perNetwork: "override",
  },
  {
    name: "MAX_USERS_PER_PROJECT",
    default: "1000000",
    description: "Users of one project, deleted ones included; each is kept permanently",
    perNetwork: "override",
  },
  {
    name: "MAX_REFUNDS_PER_PROJECT_PER_DAY",
    default: "20",
    description:
      "ECDSA signatures and dWallets together that are refunded to one project per day (UTC) after the network rejects the user's part, or because the dWallet's owner has taken it out of the Treasury",
    perNetwork: "override",
  },
  {
    name: "MAX_WRONG_HALVES_PER_PROJECT_PER_MINUTE",
    default: "60",
    description:
      "Wrong users' halves that one project may send per minute; beyond that, the service verifies none of its halves",
    perNetwork: "override",
  },
  {
    name: "FULLNODE_CALLER_READS_PER_SECOND",
    default: "100",
    description:
      "Fullnode reads that the calls of all projects may cause; the service uses the rest of the fullnode's limit",
    perNetwork: "override",
  },
  {
    name: "FULLNODE_PROJECT_READS_PER_SECOND",
    default: "20",
    description: "Fullnode reads that the calls of one project may cause",
    perNetwork: "override",
  },
  {
    name: "VERIFY_THREADS",
    default: "2",
    description:
      "Threads that verify halves and signatures, 1 to 64; each takes about 30 MB after its first use",
    perNetwork: "override",
  },
  {
    name: "SUBMIT_BATCH_SIZE",
    default: "10",
    description: "Signs in one transaction, 1 to 50",
    perNetwork: "override",
  },
] as const satisfies readonly ConfigVariable[];
