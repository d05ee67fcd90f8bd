/**
 * The coordinator's calls beyond a DKG and a signature, through the unmodified SDK. The suites are one file, so that
 * they share a localnet and what the SDK computes for it.
 */
import { afterAll } from "vitest";
import { closeSharedSdk } from "../component/localnet/shared-sdk.ts";
import "./localnet-calls/future-sign.ts";
import "./localnet-calls/imported-key.ts";
import "./localnet-calls/shared-dwallet.ts";
import "./localnet-calls/sign-during-dkg.ts";
import "./localnet-calls/transferred-dwallet.ts";

afterAll(closeSharedSdk);
