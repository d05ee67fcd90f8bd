-- How far the payments of a network are followed by its checkpoints.
CREATE TABLE "checkpoint_follower" (
    "network" TEXT NOT NULL,
    "fence" BIGINT NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "next_checkpoint" BIGINT,
    "is_following" BOOLEAN NOT NULL DEFAULT false,
    "caught_up_at" TIMESTAMPTZ(3),

    CONSTRAINT "checkpoint_follower_pkey" PRIMARY KEY ("network")
);

-- What Prisma's schema language cannot say.

ALTER TABLE "checkpoint_follower"
  ADD CONSTRAINT "checkpoint_follower_next_checkpoint" CHECK ("next_checkpoint" >= 0);

-- The deposits to credit at the next fresh price, however many are credited.
CREATE INDEX "deposit_waiting_idx" ON "deposit" ("network", "project_id") WHERE "state" = 'waiting';
