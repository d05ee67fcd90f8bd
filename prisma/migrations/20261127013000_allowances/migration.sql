-- The limits of a narrow key, and what was spent under them.
-- CreateTable
CREATE TABLE "allowance" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "user_references" TEXT[],
    "dwallet_ids" TEXT[],
    "algorithms" TEXT[],
    "window_seconds" INTEGER,
    "max_count" INTEGER,
    "max_micro_usd" BIGINT,
    "newest_slot" BIGINT NOT NULL DEFAULT 0,
    "slot_counts" INTEGER[] NOT NULL DEFAULT '{}',
    "slot_micro_usd" BIGINT[] NOT NULL DEFAULT '{}',

    CONSTRAINT "allowance_pkey" PRIMARY KEY ("id")
);

-- AddForeignKey
ALTER TABLE "allowance" ADD CONSTRAINT "allowance_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
