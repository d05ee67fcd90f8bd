import { create } from "@bufbuild/protobuf";
import { type GetPricingResponse, GetPricingResponseSchema } from "../../gen/proto/tss/v1/billing_pb.ts";
import { SignatureAlgorithm } from "../../gen/proto/tss/v1/types_pb.ts";
import { CURVE_ALGORITHMS } from "../protocol/algorithms.ts";
import { INCLUDED_MESSAGE_BYTES, type PriceTable, signPrice } from "../protocol/price-table.ts";

/** Encodes the whole price table. */
export function encodePricing(table: PriceTable): GetPricingResponse {
  return create(GetPricingResponseSchema, {
    signPriceMicroUsd: table.signMicroUsd,
    signPrices: CURVE_ALGORITHMS.map(({ signatureAlgorithm }) => ({
      signatureAlgorithm: SignatureAlgorithm[signatureAlgorithm],
      priceMicroUsd: signPrice(table, signatureAlgorithm),
    })),
    includedMessageBytes: INCLUDED_MESSAGE_BYTES,
    messageKibPriceMicroUsd: table.messageKibMicroUsd,
    dkgPriceMicroUsd: table.dkgMicroUsd,
  });
}
