import type { ComponentChildren } from "preact";
import type { SignRequest } from "../../../gen/client/tss/v1/signing_pb.ts";
import { CurveSchema, HashSchema, SignatureAlgorithmSchema } from "../../../gen/client/tss/v1/types_pb.ts";
import { ChainId } from "../design/value/id.tsx";
import { enumName } from "../format/text.ts";

/** A name with its value, as `Facts` shows it. */
export type Fact = readonly [string, ComponentChildren];

/** Returns what a sign request signs with. */
export function algorithmFacts({ signatureAlgorithm, curve, hashScheme }: SignRequest): readonly Fact[] {
  const algorithm = enumName(SignatureAlgorithmSchema, signatureAlgorithm);
  return [
    ["Algorithm", `${algorithm} on ${enumName(CurveSchema, curve)}`],
    ["Hash", enumName(HashSchema, hashScheme)],
  ];
}

/** Returns what a sign request has on the chain so far. */
export function chainFacts(request: SignRequest, network: string): readonly Fact[] {
  const { presignId, txDigest, signSessionId } = request;
  return [
    ["Presign", <ChainId id={presignId} what="presign id" kind="object" network={network} isWhole />],
    [
      "Transaction",
      txDigest && <ChainId id={txDigest} what="transaction digest" kind="tx" network={network} isWhole />,
    ],
    [
      "Sign session",
      signSessionId && (
        <ChainId id={signSessionId} what="sign session id" kind="object" network={network} isWhole />
      ),
    ],
  ];
}
