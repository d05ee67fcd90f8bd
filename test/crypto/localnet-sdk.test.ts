/**
 * The localnet with real cryptography through the unmodified SDK. The suites are one file, so that they share a localnet
 * and what the SDK computes for it.
 */
import { afterAll } from "vitest";
import { closeSharedSdk } from "../component/localnet/shared-sdk.ts";
import "./localnet-sdk/ed25519.ts";
import "./localnet-sdk/future-sign.ts";
import "./localnet-sdk/imported-key.ts";
import "./localnet-sdk/other-curves.ts";
import "./localnet-sdk/shared-dwallet.ts";
import "./localnet-sdk/sign-during-dkg.ts";
import "./localnet-sdk/transferred-dwallet.ts";

afterAll(closeSharedSdk);
