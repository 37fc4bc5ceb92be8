#include "widelimit/data/catalogue/sources.hpp"

#include "widelimit/data/formats/csv.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

namespace widelimit {

namespace {

Dataset load_text(const std::string& name, const std::string& text, const DataOptions& options) {
  ReadOptions how;
  how.source = name;
  how.label = options.label;
  how.limits = options.limits;
  how.table = options.table;
  how.like = options.like;
  how.keep_missing = options.keep_missing;
  return parse_csv(text, how);
}

}  // namespace

Dataset load_source(const DataRequest& request, const std::string& spec, const SourceReading& how) {
  DataOptions options;
  options.label = how.label;
  options.table = request.table;
  options.table.missing = how.missing;
  options.like = how.like != nullptr && !how.like->columns.empty() ? how.like : nullptr;
  options.degree_tags = how.degree_tags;
  options.keep_missing = true;
  options.part = how.part;
  options.least_features = how.least_features;
  options.limits = {request.memory, request.progress};
  const auto text = request.texts.find(spec);
  Dataset data = text != request.texts.end() ? load_text(spec, text->second, options) : load_data(spec, options);
  lay_out(data, request.layout);
  return data;
}

Dataset before_split(Dataset source, const DataOrigin& origin) {
  constexpr std::uint64_t train_stream = 0;
  if (!origin.classes.empty()) source = select_classes(source, origin.classes);
  if (origin.shuffle) source = shuffle_rows(source, *origin.shuffle, train_stream);
  return source;
}

double bytes_of(const Dataset& data) { return static_cast<double>(data.view().bytes()); }

}  // namespace widelimit
