-- Which processes run on this database. Replicas of the last release leave no row.
-- CreateTable
CREATE TABLE "process_mark" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "pid" INTEGER NOT NULL,
    "reconciles" TEXT[],
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "process_mark_pkey" PRIMARY KEY ("id")
);
