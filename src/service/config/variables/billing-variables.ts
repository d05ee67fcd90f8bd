import type { ConfigVariable } from "./config-variable.ts";

/** The variables of the prices that the service charges, a part of the table of all variables. */
export const PRICE_VARIABLES = [
  {
    name: "BILLING_PRICE_SIGN_MICRO_USD",
    default: "10000",
    description: "Price of one signature for a message of up to 1 KiB, in micro-USD",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_SIGN_BY_ALGORITHM_MICRO_USD",
    default: "",
    description: "The same for algorithms with their own price, like ECDSASecp256k1=12000,EdDSA=8000",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_MESSAGE_KIB_MICRO_USD",
    default: "6000",
    description: "Surcharge for each further KiB of the message or part of it, in micro-USD",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_DKG_MICRO_USD",
    default: "20000",
    description: "Price of one dWallet in micro-USD, charged when its DKG is requested",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_SHARE_MICRO_USD",
    default: "20000",
    description: "Price of one share of a dWallet for another user in micro-USD, charged when it is sent",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_IMPORT_MICRO_USD",
    default: "20000",
    description: "Price of one imported key in micro-USD, charged when its verification is requested",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_HOLD_MICRO_USD",
    default: "10000",
    description:
      "Price of holding a user's half of a signature in micro-USD, added to the signature's price; kept when a held half is not released",
    perNetwork: "override",
  },
] as const satisfies readonly ConfigVariable[];

/** The default address of Pyth's Hermes service (https://docs.pyth.network/api-reference/hermes/latest-price-updates). */
export const PYTH_URL = "https://pyth.dourolabs.app/hermes";

const PRICE_SOURCE_VARIABLES = [
  {
    name: "BILLING_PRICE_SOURCES",
    description:
      "Sources of the prices of SUI and IKA, any of pyth,coinbase,feed; the service uses their median. Default: feed, if it has a URL",
    perNetwork: "override",
  },
  {
    name: "BILLING_PYTH_URL",
    description: `Pyth's Hermes service, or a provider's; default ${PYTH_URL}`,
    secret: true,
    perNetwork: "override",
  },
  {
    name: "BILLING_PYTH_API_KEY",
    description: "The key for Hermes, sent as a bearer token",
    secret: true,
    perNetwork: "override",
  },
  {
    name: "BILLING_PYTH_FEEDS",
    default:
      "SUI=23d7315113f5b1d3ba7a83604c44b94d79f4fd69af77f804fc7f920a6dc65744,IKA=2b529621fa6e2c8429f623ba705572aa64175d7768365ef829df6a12c9f365f4",
    description: "The ids of Pyth's feeds in US dollars, by coin",
    perNetwork: "override",
  },
  {
    name: "BILLING_COINBASE_URL",
    default: "https://api.exchange.coinbase.com",
    description: "The REST API of Coinbase Exchange",
    perNetwork: "override",
  },
  {
    name: "BILLING_COINBASE_PRODUCTS",
    default: "SUI=SUI-USD",
    description: "Coinbase's products in US dollars, by coin",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_FEED_URL",
    description: "URL of a price feed of your own, see docs/deposits.md; https, or http on this machine",
    secret: true,
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_REFRESH_SECONDS",
    default: "30",
    description: "Interval between reads of the price sources",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_MAX_AGE_SECONDS",
    default: "300",
    description: "Maximum age of a price for crediting",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_MAX_SPREAD_PERCENT",
    default: "5",
    description:
      "Maximum distance between the sources, with Pyth's confidence and Coinbase's bid and ask, in percent of the median",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_MAX_STEP_PERCENT",
    default: "20",
    description:
      "Maximum step of a price, in percent; a price beyond it counts once two sources have agreed on it for the maximum age, or an operator has confirmed it",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_MAX_HOUR_PERCENT",
    default: "30",
    description:
      "Maximum distance between the lowest and the highest price of an hour, in percent of the lowest; beyond it, only an operator confirms a price",
    perNetwork: "override",
  },
  {
    name: "BILLING_PRICE_MAX_DAY_PERCENT",
    default: "60",
    description: "The same for a day",
    perNetwork: "override",
  },
] as const satisfies readonly ConfigVariable[];

/** The variables of deposits, a part of the table of all variables. */
export const DEPOSIT_VARIABLES = [
  {
    name: "BILLING_DEPOSIT_MASTER_SEED_HEX",
    description:
      "The seed of all deposit addresses, 64 hex digits; unset: no deposits, or on the localnet a public development seed",
    secret: true,
    uselessIn: "api",
    perNetwork: "own",
  },
  {
    name: "BILLING_USD_PRICES",
    description:
      "Fixed prices of the accepted coins, like SUI=3.50,IKA=0.02 or by full coin type; if set, the service reads no price source and accepts no other coin",
    perNetwork: "override",
  },
  ...PRICE_SOURCE_VARIABLES,
  {
    name: "BILLING_MIN_DEPOSIT_MICRO_USD",
    default: "1000000",
    description: "Deposits wait until their total value reaches this amount",
    perNetwork: "override",
  },
  {
    name: "BILLING_DEPOSIT_POLL_SECONDS",
    default: "10",
    description: "Interval between scans of an active deposit address; longer for a quiet one",
    perNetwork: "override",
  },
  {
    name: "BILLING_MAX_DEPOSIT_REFERENCES",
    default: "100000",
    description: "Maximum number of a project's deposit addresses with a reference; each is kept permanently",
    perNetwork: "override",
  },
] as const satisfies readonly ConfigVariable[];

/** The variables of the address that receives swept deposits, by network. */
export const SWEEP_DESTINATION = {
  localnet: "BILLING_SWEEP_DESTINATION_LOCALNET",
  testnet: "BILLING_SWEEP_DESTINATION_TESTNET",
  mainnet: "BILLING_SWEEP_DESTINATION_MAINNET",
} as const;

/** The variables of sweeps, a part of the table of all variables. */
export const SWEEP_VARIABLES = [
  {
    name: SWEEP_DESTINATION.localnet,
    description:
      "Sui address to which the service moves credited deposits; unset: they stay at the deposit addresses",
  },
  { name: SWEEP_DESTINATION.testnet, description: "The same on testnet" },
  { name: SWEEP_DESTINATION.mainnet, description: "The same on mainnet" },
  {
    name: "BILLING_SWEEP_MIN_MICRO_USD",
    default: "1000000",
    description: "Minimum credited value of the coins of one deposit address and type for a sweep",
    perNetwork: "override",
  },
  {
    name: "BILLING_SWEEP_INTERVAL_SECONDS",
    default: "600",
    description: "Interval between sweeps, 1 to 86400",
    perNetwork: "override",
  },
] as const satisfies readonly ConfigVariable[];
