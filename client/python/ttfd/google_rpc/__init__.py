"""google.rpc.Status and its details: a process can have one definition, so an installed one is used if there is one."""

try:
    from google.rpc import error_details_pb2, status_pb2
except ImportError:
    from ttfd.google_rpc.own import error_details_pb2, status_pb2

__all__ = ["error_details_pb2", "status_pb2"]
