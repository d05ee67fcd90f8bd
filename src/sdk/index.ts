/** The package's entry `threshold-signing-service/sdk`, for Node and browsers. */
export type { CryptoEngine } from "../crypto/engine.ts";
export { createInlineEngine } from "../crypto/inline-engine.ts";
export {
  addressesOfKey,
  type BitcoinPrefix,
  bitcoinP2trAddress,
  bitcoinP2wpkhAddress,
  ethereumAddress,
  type NamedAddress,
  polkadotAddress,
  type SuiScheme,
  solanaAddress,
  suiAddress,
} from "../protocol/addresses.ts";
export type { ActionOptions } from "./action.ts";
export { type ClientOptions, createClient, type TssClient } from "./client.ts";
export type { RawClients } from "./context.ts";
export { type LocalReason, TssError, type TssErrorReason } from "./errors.ts";
export { Curve, Hash, type Network, SignatureAlgorithm } from "./names.ts";
export type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
export type {
  RecoverShareArgs,
  RecoverShareResult,
  RecoverShareStage,
  ShareSource,
} from "./recover-share.ts";
export type { ResumeOnboardArgs } from "./resume-onboard.ts";
export type { ResumeSignArgs } from "./resume-sign.ts";
export type { SignManyItem, SignManyOptions } from "./sign-many.ts";
export type { SignArgs, SignOptions, SignResult, SignStage } from "./sign-types.ts";
