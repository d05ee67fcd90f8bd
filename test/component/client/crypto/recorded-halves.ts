/** Sign requests with fixed inputs, and their halves. */
import type { SignRequest } from "../../../../src/client/crypto/sign-request.ts";
import { ALGORITHM_TRIPLES, curveNumber } from "../../../../src/protocol/algorithms.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import {
  buildProtocolParameters,
  NO_TABLES,
} from "../../../../src/protocol/parameters/build-protocol-parameters.ts";
import { ownNetwork, presignOf } from "../../../support/crypto/own-dwallet.ts";
import recorded from "./sign-message.vectors.json" with { type: "json" };

export { recorded };

/** One half of each algorithm and hash. */
export type RecordedHalf = (typeof recorded.vectors)[number];

/** The network that holds the other half of each key. */
export const recordedNetwork = ownNetwork(hexToBytes(recorded.networkSeedHex)[0]!);

const parameters = [0, 1, 2, 3].map((curve) =>
  buildProtocolParameters(curve, recordedNetwork.networkDkgPublicOutput(), NO_TABLES),
);

/** The inputs of a recorded half. */
export function requestOf(vector: RecordedHalf): SignRequest {
  const triple = ALGORITHM_TRIPLES.find(
    ({ signatureAlgorithm, hash }) =>
      signatureAlgorithm === vector.signatureAlgorithm && hash === vector.hash,
  )!;
  const { shareHex, outputHex } = recorded.dwallets[curveNumber(triple.curve)]!;
  return {
    triple,
    parameters: parameters[triple.curveNumber]!,
    dwalletOutput: hexToBytes(outputHex),
    userSecretKeyShare: hexToBytes(shareHex),
    presign: presignOf(recordedNetwork, triple, hexToBytes(vector.presignSessionIdHex)),
    message: hexToBytes(vector.messageHex),
  };
}
