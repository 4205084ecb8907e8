"""The HTTP status of every error that a room of the service raises."""

from collections.abc import Mapping

from cardan.service.errors import ErrorCode

STATUSES: Mapping[ErrorCode, int] = {
    ErrorCode.COMMAND_IMPOSSIBLE: 422,
    ErrorCode.COMMAND_INVALID: 422,
    ErrorCode.COMPUTE_TIMED_OUT: 504,
    ErrorCode.DOWNLOAD_TOO_LARGE: 413,
    ErrorCode.ENGINE_NOT_READY: 503,
    ErrorCode.INVALID_REQUEST: 422,
    ErrorCode.INVALID_SLICE: 422,
    ErrorCode.LIMIT_EXCEEDED: 422,
    ErrorCode.MALFORMED_JSON: 400,
    ErrorCode.NO_CAPACITY: 503,
    ErrorCode.NO_SUCH_TABLE: 422,
    ErrorCode.NO_WORKER: 503,
    ErrorCode.QUERY_IMPOSSIBLE: 422,
    ErrorCode.QUEUE_FULL: 429,
    ErrorCode.RESULT_DAMAGED: 500,
    ErrorCode.RESULT_GONE: 410,
    ErrorCode.SCENE_INVALID: 422,
    ErrorCode.SCENE_TOO_LARGE: 422,
    ErrorCode.SERVICE_STOPS: 503,
    ErrorCode.SESSION_CLOSED: 410,
    ErrorCode.SESSION_FAILED: 409,
    ErrorCode.SESSION_FINISHED: 409,
    ErrorCode.SESSION_IN_USE: 409,
    ErrorCode.SESSION_NOT_FOUND: 404,
    ErrorCode.SESSION_UNUSABLE: 409,
    ErrorCode.SNAPSHOT_INVALID: 422,
    ErrorCode.SNAPSHOT_NOT_FOUND: 404,
    ErrorCode.STEP_OUT_OF_RANGE: 422,
    ErrorCode.STORAGE_FAILED: 507,
    ErrorCode.SUPERSEDED: 409,
    ErrorCode.TOO_MANY_COMMANDS: 429,
    ErrorCode.UNKNOWN_BODY: 422,
    ErrorCode.UNKNOWN_JOINT: 422,
    ErrorCode.UNKNOWN_OP: 422,
    ErrorCode.WARMING_UP: 503,
    ErrorCode.WORKER_LOST: 503,
}
