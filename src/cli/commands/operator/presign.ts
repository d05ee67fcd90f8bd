import {
  GetPresignHealthResponseSchema,
  RefillPresignsResponseSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { SignatureAlgorithm } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { bucket, count, optional, required } from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatTable } from "../../output/format.ts";

const OPERATOR = { caller: "operator", isDirect: false } as const;
const REFILL_MAX_COUNT = 100;

const health = serviceCommand({
  ...OPERATOR,
  summary: "show the presign pool by bucket",
  options: {
    bucket: optional("<curve>/<algorithm>", "show only this bucket, such as SECP256K1/Taproot", bucket),
  },
  call: ({ admin }, { bucket: wanted }) =>
    admin.getPresignHealth(
      wanted ? { signatureAlgorithmName: SignatureAlgorithm[wanted.signatureAlgorithm] } : {},
    ),
  reply: GetPresignHealthResponseSchema,
  show: ({ buckets }) =>
    formatTable(
      [
        { title: "BUCKET", of: (each) => `${each.curveName}/${each.signatureAlgorithmName}` },
        { title: "READY", of: ({ ready }) => String(ready), align: "right" },
        { title: "PENDING", of: ({ pending }) => String(pending), align: "right" },
        { title: "HELD", of: ({ held }) => String(held), align: "right" },
        { title: "USED", of: ({ used }) => String(used), align: "right" },
        { title: "BURNT", of: ({ burnt }) => String(burnt), align: "right" },
        { title: "LOW WATER", of: ({ lowWater }) => String(lowWater), align: "right" },
        { title: "HIGH WATER", of: ({ highWater }) => String(highWater), align: "right" },
        { title: "NETWORK KEY", of: ({ networkEncryptionKeyId }) => networkEncryptionKeyId },
      ],
      buckets,
    ),
});

const refill = serviceCommand({
  ...OPERATOR,
  summary: "request presigns in addition to the automatic refill",
  options: {
    bucket: required("<curve>/<algorithm>", "the bucket, such as SECP256K1/Taproot", bucket),
    count: required(
      "<count>",
      `the number of presigns, 1 to ${REFILL_MAX_COUNT}`,
      count(1, REFILL_MAX_COUNT),
    ),
  },
  call: ({ admin }, { bucket: wanted, count: howMany }) =>
    admin.refillPresigns({
      signatureAlgorithmName: SignatureAlgorithm[wanted.signatureAlgorithm],
      count: howMany,
    }),
  reply: RefillPresignsResponseSchema,
  show: ({ queued }) => `${queued} queued`,
});

export const presignCommands = { health, refill };
