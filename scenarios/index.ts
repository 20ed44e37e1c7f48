/** Claims about locks, each with the play that proves or refutes it. */
import type { Scenario } from '../harness/vocabulary/workload.js';
import { askingUnaskedTakesAHeldLock } from './asking-unasked-takes-a-held-lock.js';
import { bareSetnxOutlivesItsHolder } from './bare-setnx-outlives-its-holder.js';
import { clusterHandoverKeepsTheLock } from './cluster-handover-keeps-the-lock.js';
import { clusterLosesTheLock } from './cluster-loses-the-lock.js';
import { coordinatedFailoverKeepsTheLock } from './coordinated-failover-keeps-the-lock.js';
import { crashBetweenSetnxAndExpire } from './crash-between-setnx-and-expire.js';
import { crashedHolderFreesIt } from './crashed-holder-frees-it.js';
import { crashedHolderWithAWatchdog } from './crashed-holder-with-a-watchdog.js';
import { evictionFreesTheLock } from './eviction-frees-the-lock.js';
import { failoverLosesTheLock } from './failover-loses-the-lock.js';
import { fastReplicaIsPromoted } from './fast-replica-is-promoted.js';
import { fencingRefusesTheLateWrite } from './fencing-refuses-the-late-write.js';
import { fencingTokenRepeats } from './fencing-token-repeats.js';
import { forgottenUnlockWithAWatchdog } from './forgotten-unlock-with-a-watchdog.js';
import { handoverKeepsTheLock } from './handover-keeps-the-lock.js';
import { isolatedPrimary } from './isolated-primary.js';
import { lateGrantIsRefused } from './late-grant-is-refused.js';
import { lateGrantWithoutACheck } from './late-grant-without-a-check.js';
import { leaseEndsUnderSlowWork } from './lease-ends-under-slow-work.js';
import { lostReplyLeavesAnOrphan } from './lost-reply-leaves-an-orphan.js';
import { lostWakeUpCostsOneLease } from './lost-wake-up-costs-one-lease.js';
import { lostWakeUpIsSleptThrough } from './lost-wake-up-is-slept-through.js';
import { migratedSlotKeepsTheLock } from './migrated-slot-keeps-the-lock.js';
import { minReplicasBoundsTheWindow } from './min-replicas-bounds-the-window.js';
import { movedSlotKeepsTheLock } from './moved-slot-keeps-the-lock.js';
import { negativeExpiry } from './negative-expiry.js';
import { oneFailedRenewalCostsNothing } from './one-failed-renewal-costs-nothing.js';
import { oneFailedRenewalEndsTheWatchdog } from './one-failed-renewal-ends-the-watchdog.js';
import { onlyOneHolds } from './only-one-holds.js';
import { onlyTheOwnerReleases } from './only-the-owner-releases.js';
import { pauseBetweenGetAndDel } from './pause-between-get-and-del.js';
import { pauseBetweenGrantAndWrite } from './pause-between-grant-and-write.js';
import { plainDelFreesAnothersLock } from './plain-del-frees-anothers-lock.js';
import { plannedFailoverMakesTwoHolders } from './planned-failover-makes-two-holders.js';
import { powerCutLosesTheLastSecond } from './power-cut-loses-the-last-second.js';
import { powerCutWithASyncedLog } from './power-cut-with-a-synced-log.js';
import { promotedBeforeItsFirstSync } from './promoted-before-its-first-sync.js';
import { redisson3FailedRenewal } from './redisson-3-failed-renewal.js';
import { redissonClosedWhileHeld } from './redisson-closed-while-held.js';
import { redissonDowngrade } from './redisson-downgrade.js';
import { redissonFailedRenewal } from './redisson-failed-renewal.js';
import { redissonFailedUnlock } from './redisson-failed-unlock.js';
import { redissonFailoverWithItsCheck } from './redisson-failover-with-its-check.js';
import { redissonFailoverWithoutItsCheck } from './redisson-failover-without-its-check.js';
import { redissonFairDeadWaiter } from './redisson-fair-dead-waiter.js';
import { redissonFencedAfterDataLoss } from './redisson-fenced-after-data-loss.js';
import { redissonInterruptedLock } from './redisson-interrupted-lock.js';
import { redissonKeptObject } from './redisson-kept-object.js';
import { redissonKeyWithoutExpiry } from './redisson-key-without-expiry.js';
import { redissonMultiLockInRounds } from './redisson-multi-lock-in-rounds.js';
import { redissonMultiNodeForgets } from './redisson-multi-node-forgets.js';
import { redissonNestedWriteAddsUp } from './redisson-nested-write-adds-up.js';
import { redissonPlannedFailover } from './redisson-planned-failover.js';
import { redissonRedlockNodeForgets } from './redisson-redlock-node-forgets.js';
import { redissonRenewalEntryLeft } from './redisson-renewal-entry-left.js';
import { redissonRestartUnderAWaiter } from './redisson-restart-under-a-waiter.js';
import { redissonSlotOnItsWay } from './redisson-slot-on-its-way.js';
import { redissonWaitByTheWallClock } from './redisson-wait-by-the-wall-clock.js';
import { redissonWatchdogByDefault } from './redisson-watchdog-by-default.js';
import { redissonWatchdogOf100Ms } from './redisson-watchdog-of-100-ms.js';
import { redissonWatchdogUnderACut } from './redisson-watchdog-under-a-cut.js';
import { redissonWatchdogUnderAPause } from './redisson-watchdog-under-a-pause.js';
import { redlockClockErrorBelowTheLease } from './redlock-clock-error-below-the-lease.js';
import { redlockClockJumps } from './redlock-clock-jumps.js';
import { redlockClocksGoBack } from './redlock-clocks-go-back.js';
import { redlockCrashedHolderFreesIt } from './redlock-crashed-holder-frees-it.js';
import { redlockMajorityIsEnough } from './redlock-majority-is-enough.js';
import { redlockNodeEvicts } from './redlock-node-evicts.js';
import { redlockNodeFailsOver } from './redlock-node-fails-over.js';
import { redlockNodeRestartsEmpty } from './redlock-node-restarts-empty.js';
import { redlockNodeRestartsLateAfterAPowerCut } from './redlock-node-restarts-late-after-a-power-cut.js';
import { redlockNodeStaysAway } from './redlock-node-stays-away.js';
import { redlockNodesAskedInTurn } from './redlock-nodes-asked-in-turn.js';
import { redlockOnlyOneHolds } from './redlock-only-one-holds.js';
import { redlockOnlyTheOwnerReleases } from './redlock-only-the-owner-releases.js';
import { redlockTimeAgainstTheWait } from './redlock-time-against-the-wait.js';
import { releasedLockComesBack } from './released-lock-comes-back.js';
import { restartWithASyncedLog } from './restart-with-a-synced-log.js';
import { restartWithoutPersistence } from './restart-without-persistence.js';
import { sentinelLosesTheLock } from './sentinel-loses-the-lock.js';
import { serverClockGoesBack } from './server-clock-goes-back.js';
import { serverClockJumps } from './server-clock-jumps.js';
import { silentUnlock } from './silent-unlock.js';
import { swappedArguments } from './swapped-arguments.js';
import { takenTwiceWaitsForItself } from './taken-twice-waits-for-itself.js';
import { waitOneIsNotEnough } from './wait-one-is-not-enough.js';
import { waitRefusesWhatNoReplicaHas } from './wait-refuses-what-no-replica-has.js';
import { waitaofOneReplicaIsNotEnough } from './waitaof-one-replica-is-not-enough.js';
import { waitaofOutlivesAPowerCut } from './waitaof-outlives-a-power-cut.js';
import { waitersSleep } from './waiters-sleep.js';
import { watchdogThatTellsNobody } from './watchdog-that-tells-nobody.js';
import { watchdogUnderAPartition } from './watchdog-under-a-partition.js';
import { watchdogUnderAPause } from './watchdog-under-a-pause.js';
import { watchdogWhoseRenewalsFail } from './watchdog-whose-renewals-fail.js';

const all: readonly Scenario[] = [
  askingUnaskedTakesAHeldLock,
  bareSetnxOutlivesItsHolder,
  clusterHandoverKeepsTheLock,
  clusterLosesTheLock,
  coordinatedFailoverKeepsTheLock,
  crashBetweenSetnxAndExpire,
  crashedHolderFreesIt,
  crashedHolderWithAWatchdog,
  evictionFreesTheLock,
  failoverLosesTheLock,
  fastReplicaIsPromoted,
  fencingRefusesTheLateWrite,
  fencingTokenRepeats,
  forgottenUnlockWithAWatchdog,
  handoverKeepsTheLock,
  isolatedPrimary,
  lateGrantIsRefused,
  lateGrantWithoutACheck,
  leaseEndsUnderSlowWork,
  lostReplyLeavesAnOrphan,
  lostWakeUpCostsOneLease,
  lostWakeUpIsSleptThrough,
  minReplicasBoundsTheWindow,
  migratedSlotKeepsTheLock,
  movedSlotKeepsTheLock,
  negativeExpiry,
  oneFailedRenewalCostsNothing,
  oneFailedRenewalEndsTheWatchdog,
  onlyOneHolds,
  takenTwiceWaitsForItself,
  onlyTheOwnerReleases,
  pauseBetweenGetAndDel,
  pauseBetweenGrantAndWrite,
  plainDelFreesAnothersLock,
  plannedFailoverMakesTwoHolders,
  powerCutLosesTheLastSecond,
  powerCutWithASyncedLog,
  redlockClockErrorBelowTheLease,
  redlockClockJumps,
  redlockClocksGoBack,
  redlockCrashedHolderFreesIt,
  redlockMajorityIsEnough,
  redlockNodeEvicts,
  redlockNodeFailsOver,
  redlockNodeRestartsEmpty,
  redlockNodeRestartsLateAfterAPowerCut,
  redlockNodeStaysAway,
  redlockNodesAskedInTurn,
  redlockOnlyOneHolds,
  redlockOnlyTheOwnerReleases,
  redlockTimeAgainstTheWait,
  releasedLockComesBack,
  restartWithASyncedLog,
  restartWithoutPersistence,
  sentinelLosesTheLock,
  serverClockGoesBack,
  serverClockJumps,
  silentUnlock,
  swappedArguments,
  promotedBeforeItsFirstSync,
  waitaofOneReplicaIsNotEnough,
  waitaofOutlivesAPowerCut,
  waitOneIsNotEnough,
  waitRefusesWhatNoReplicaHas,
  waitersSleep,
  watchdogThatTellsNobody,
  watchdogUnderAPartition,
  watchdogUnderAPause,
  watchdogWhoseRenewalsFail,
  redissonFailoverWithItsCheck,
  redissonFailoverWithoutItsCheck,
  redissonFairDeadWaiter,
  redissonFencedAfterDataLoss,
  redissonMultiLockInRounds,
  redissonMultiNodeForgets,
  redissonDowngrade,
  redissonNestedWriteAddsUp,
  redissonSlotOnItsWay,
  redissonPlannedFailover,
  redissonRedlockNodeForgets,
  redissonRestartUnderAWaiter,
  redissonWatchdogUnderACut,
  redissonWatchdogUnderAPause,
  redisson3FailedRenewal,
  redissonClosedWhileHeld,
  redissonFailedRenewal,
  redissonFailedUnlock,
  redissonInterruptedLock,
  redissonKeptObject,
  redissonKeyWithoutExpiry,
  redissonRenewalEntryLeft,
  redissonWaitByTheWallClock,
  redissonWatchdogByDefault,
  redissonWatchdogOf100Ms,
];

export const scenarios: Record<string, Scenario> = Object.fromEntries(all.map((one) => [one.name, one]));
