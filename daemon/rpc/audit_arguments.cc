#include "daemon/rpc/audit_arguments.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

#include <vector>

#include "runtime/base/utf8.h"

namespace ttfd {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class Writer {
 public:
  void AddObject(const Message& message, bool outermost);
  std::string Take() { return std::move(json_); }

 private:
  bool IsFull() {
    cut_ = cut_ || json_.size() >= kAuditArgumentBytes;
    return json_.size() >= kAuditArgumentBytes;
  }
  void AddField(const Message& message, const FieldDescriptor& field);
  // `index`: of a repeated field; else -1.
  void AddValue(const Message& message, const FieldDescriptor& field, int index);
  void AddString(const std::string& text);

  std::string json_;
  bool cut_ = false;
};

void Writer::AddObject(const Message& message, bool outermost) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  json_ += '{';
  const char* separator = "";
  for (const FieldDescriptor* field : fields) {
    if (IsFull()) break;
    json_ += separator;
    separator = ",";
    AddField(message, *field);
  }
  if (outermost && cut_) json_ += std::string(separator) + R"("cut":true)";
  json_ += '}';
}

void Writer::AddField(const Message& message, const FieldDescriptor& field) {
  json_ += JsonString(field.name()) + ':';
  if (!field.is_repeated()) {
    AddValue(message, field, -1);
    return;
  }
  json_ += '[';
  const int size = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < size && !IsFull(); ++i) {
    if (i > 0) json_ += ',';
    AddValue(message, field, i);
  }
  json_ += ']';
}

void Writer::AddValue(const Message& message, const FieldDescriptor& field, int index) {
  const google::protobuf::Reflection& values = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      AddObject(index < 0 ? values.GetMessage(message, &field)
                          : values.GetRepeatedMessage(message, &field, index),
                /*outermost=*/false);
      return;
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      AddString(index < 0 ? values.GetStringReference(message, &field, &scratch)
                          : values.GetRepeatedStringReference(message, &field, index, &scratch));
      return;
    }
    default: {
      std::string text;
      google::protobuf::TextFormat::PrintFieldValueToString(message, &field, index, &text);
      // As in protobuf's JSON: not every reader of JSON keeps all 64 bits of a number.
      const bool quoted = field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 ||
                          field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64 ||
                          field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
      json_ += quoted ? JsonString(text) : text;
    }
  }
}

void Writer::AddString(const std::string& text) {
  cut_ = cut_ || text.size() > kAuditStringBytes;
  json_ += JsonString(text, kAuditStringBytes);
}

}  // namespace

std::string AuditArguments(const Message& request) {
  Writer writer;
  writer.AddObject(request, /*outermost=*/true);
  return writer.Take();
}

}  // namespace ttfd
